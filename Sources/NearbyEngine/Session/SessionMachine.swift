import NearbyCore
import NearbyWire

/// The session with one peer over one channel: messages that may be lost, and messages that may
/// not.
///
/// The owner seals and sends the frames and hands over what it opened. When another channel takes
/// over, a new machine begins there with what `unacknowledgedMessages` gives.
public struct SessionMachine: Sendable {
    public enum Input: Sendable {
        /// At most `Limits.messageBytesMax` bytes; may be lost, doubled or overtaken.
        case sendUnreliable([UInt8], Priority)
        /// At most `Limits.reliableMessageBytesMax` bytes; arrives once and in order.
        case sendReliable([UInt8])
        case received(EndToEndFrame)
        /// The channel stays but the path that it took is gone, and there is another.
        case pathReset
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        /// A whole frame that begins with its kind.
        case frame([UInt8], Priority)
        case delivered([UInt8], isReliable: Bool)
        case drop(DropReason)
        /// The peer's stream of reliable messages cannot be read any further: only a new channel
        /// helps.
        case broken
    }

    private var sender = ReliableSender()
    private var receiver = ReliableReceiver()

    public init() {}

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .sendUnreliable(let message, let priority):
            guard message.count <= Limits.messageBytesMax else { return [.drop(.messageTooLong)] }
            return [.frame([FrameKind.message.rawValue] + message, priority)]
        case .sendReliable(let message):
            if let reason = sender.enqueue(message) { outputs.append(.drop(reason)) }
        case .received(.message(let message)):
            // Nothing of the reliable ones changes.
            let isShort = message.count <= Limits.messageBytesMax
            return [
                isShort ? .delivered(Array(message), isReliable: false) : .drop(.messageTooLong)
            ]
        case .received(let frame): receive(frame, now: now, &outputs)
        case .pathReset:
            sender.resetPath()
        case .deadlineReached:
            outputs += segments(sender.handleDeadline(now: now))
            if receiver.nextDeadline == .zero { deliver(now: now, &outputs) }
        }
        if let acknowledgement = receiver.takeAcknowledgement(now: now) {
            outputs.append(.frame(acknowledgement.bytes, .control))
        }
        outputs += segments(sender.transmit(now: now))
        return outputs
    }

    public var nextDeadline: Instant? {
        guard let ours = sender.nextDeadline else { return receiver.nextDeadline }
        return min(ours, receiver.nextDeadline ?? ours)
    }

    /// Whole reliable messages that the peer may not have delivered, in order, for a new channel.
    /// This machine keeps them.
    public var unacknowledgedMessages: [[UInt8]] { sender.unacknowledged }

    /// Bytes of reliable messages kept for the peer: 0–`Limits.reliableQueueBytesMax`.
    public var queuedReliableBytes: Int { sender.queuedBytes }

    /// The smoothed round-trip time end to end; RFC 9002's initial value before the first sample.
    public var roundTrip: Duration { sender.rtt.smoothed }

    private mutating func receive(
        _ frame: EndToEndFrame, now: Instant, _ outputs: inout [Output]
    ) {
        switch frame {
        case .message: break
        case .segment(let segment):
            if let reason = receiver.receive(segment, now: now) {
                outputs.append(.drop(reason))
            } else {
                deliver(now: now, &outputs)
            }
        case .acknowledgement(let frame):
            if let reason = sender.receive(frame, now: now) { outputs.append(.drop(reason)) }
        }
    }

    private mutating func deliver(now: Instant, _ outputs: inout [Output]) {
        do throws(WireError) {
            for message in try receiver.takeMessages(now: now) {
                outputs.append(.delivered(message, isReliable: true))
            }
        } catch {
            outputs += [.drop(.messageMalformed), .broken]
        }
    }

    private func segments(_ frames: [[UInt8]]) -> [Output] {
        frames.map { .frame($0, .reliable) }
    }
}
