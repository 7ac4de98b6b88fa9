import Foundation
import Nearby
import NearbyCore

@testable import MultipeerConnectivity

/// A stream of `Nearby` without a network: what is written to one end, as far as there is room, is
/// read from the other.
final class Pipe: ByteSource, ByteSink {
    private struct State {
        var bytes: [UInt8] = []
        var isFinished = false
        var isReset = false
        var failure: NearbyError?
        var onBytes: (@Sendable () -> Void)?
        var onRoom: (@Sendable () -> Void)?
    }

    private let capacity: Int
    private let state = Guarded(State())

    init(capacity: Int) { self.capacity = capacity }

    var onBytes: (@Sendable () -> Void)? {
        get { state.with { $0.onBytes } }
        set { state.with { $0.onBytes = newValue } }
    }

    var onRoom: (@Sendable () -> Void)? {
        get { state.with { $0.onRoom } }
        set { state.with { $0.onRoom = newValue } }
    }

    var isReset: Bool { state.with { $0.isReset } }
    var isFinished: Bool { state.with { $0.isFinished } }

    func readNow(upTo count: Int) throws(NearbyError) -> [UInt8]? {
        let (piece, failure, isEnd, onRoom) = state.with { state in
            let piece = Array(state.bytes.prefix(count))
            state.bytes.removeFirst(piece.count)
            let isEnd = piece.isEmpty && state.isFinished
            return (piece, state.failure, isEnd, piece.isEmpty ? nil : state.onRoom)
        }
        if let failure { throw failure }
        onRoom?()
        return isEnd ? nil : piece
    }

    func writeNow(_ bytes: ArraySlice<UInt8>) throws(NearbyError) -> Int {
        let (count, failure, onBytes) = state.with { state in
            let count = min(bytes.count, capacity - state.bytes.count)
            state.bytes += bytes.prefix(count)
            return (count, state.failure, count > 0 ? state.onBytes : nil)
        }
        if let failure { throw failure }
        onBytes?()
        return count
    }

    func finish() { end { $0.isFinished = true } }

    func reset() { end { $0.isReset = true } }

    func fail(_ error: NearbyError) { end { $0.failure = error } }

    private func end(_ change: (inout State) -> Void) {
        let callbacks = state.with { state in
            change(&state)
            return (state.onBytes, state.onRoom)
        }
        callbacks.0?()
        callbacks.1?()
    }
}

/// Notes what a stream tells, and does something at each event.
final class EventLog: NSObject, StreamDelegate {
    private(set) var events: [Foundation.Stream.Event] = []
    private let react: (Foundation.Stream, Foundation.Stream.Event) -> Void

    init(react: @escaping (Foundation.Stream, Foundation.Stream.Event) -> Void = { _, _ in }) {
        self.react = react
    }

    func stream(_ aStream: Foundation.Stream, handle eventCode: Foundation.Stream.Event) {
        events.append(eventCode)
        react(aStream, eventCode)
    }
}

extension NearbyError {
    static let forTest = NearbyError(.notConnected, "The peer has gone.")
}
