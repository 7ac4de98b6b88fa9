import Synchronization

/// Events in the order in which they happened, for one consumer: another one that waits at the
/// same time gets the end. What nobody takes waits, up to a limit that the owner documents.
public struct Events<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let queue: EventQueue<Element>

        /// Nil at the end, and where the task is cancelled.
        public mutating func next() async -> Element? { await queue.next() }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Never) -> Element? {
            await queue.next()
        }
    }

    let queue: EventQueue<Element>

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: queue) }
}

/// What waits for a program: bounded in count and bytes.
final class EventQueue<Element: Sendable>: Sendable {
    /// What becomes of an element for which there is no room.
    enum Need {
        /// It is dropped and counted.
        case optional
        /// The oldest element makes room: news replace what is old.
        case news
        /// It is refused, and the owner sees to it that the program hears.
        case essential
    }

    private struct State {
        var elements: [(element: Element, bytes: Int)?] = []
        var head = 0
        var bytes = 0
        var dropped: UInt64 = 0
        var isFinished = false
        var consumer: CheckedContinuation<Element?, Never>?
        var onDrained: (@Sendable () -> Void)?

        var count: Int { elements.count - head }

        mutating func takeFirst() -> Element? {
            guard head < elements.count, let first = elements[head] else { return nil }
            elements[head] = nil
            head += 1
            bytes -= first.bytes
            if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
            return first.element
        }
    }

    private let state = Mutex(State())
    private let countMax: Int
    private let bytesMax: Int

    /// An optional element finds no room already at a quarter of both.
    init(count: Int, bytes: Int = .max) {
        countMax = count
        bytesMax = bytes
    }

    /// - Returns: false if it was not taken.
    @discardableResult
    func push(_ element: Element, bytes: Int = 0, _ need: Need = .essential) -> Bool {
        let (consumer, isTaken) = state.withLock {
            state -> (CheckedContinuation<Element?, Never>?, Bool) in
            guard !state.isFinished else { return (nil, false) }
            if let consumer = state.consumer {
                state.consumer = nil
                return (consumer, true)
            }
            if need == .news, state.count >= countMax { _ = state.takeFirst() }
            let share = need == .optional ? 4 : 1
            guard state.count < countMax / share,
                need == .news || state.bytes + bytes <= bytesMax / share
            else {
                state.dropped &+= 1
                return (nil, false)
            }
            state.elements.append((element, bytes))
            state.bytes += bytes
            return (nil, true)
        }
        consumer?.resume(returning: element)
        return isTaken
    }

    /// The consumer gets what is left, then the end.
    func finish() {
        let consumer = state.withLock { state in
            state.isFinished = true
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: nil)
    }

    // MARK: A slow consumer

    /// Whether so much waits that others should wait, too: a sixteenth of what may.
    var isPiledUp: Bool {
        state.withLock { $0.count >= countMax / 16 || $0.bytes >= bytesMax / 16 }
    }

    /// Calls once when less than half of that waits; at once, if it is so.
    func whenDrained(_ body: @escaping @Sendable () -> Void) {
        let isSo = state.withLock { state in
            if isDrained(state) { return true }
            state.onDrained = body
            return false
        }
        if isSo { body() }
    }

    private func isDrained(_ state: State) -> Bool {
        state.count < max(1, countMax / 32) && state.bytes < max(1, bytesMax / 32)
    }

    private func takeFirst(_ state: inout State) -> (Element, (@Sendable () -> Void)?)? {
        guard let first = state.takeFirst() else { return nil }
        guard isDrained(state) else { return (first, nil) }
        defer { state.onDrained = nil }
        return (first, state.onDrained)
    }

    /// Elements that found no room.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiting: CheckedContinuation<Element?, Never>) in
                var drained: (@Sendable () -> Void)?
                let now = state.withLock { state -> Element?? in
                    if let (first, onDrained) = takeFirst(&state) {
                        drained = onDrained
                        return .some(first)
                    }
                    if state.isFinished || state.consumer != nil || Task.isCancelled {
                        return .some(nil)
                    }
                    state.consumer = waiting
                    return nil
                }
                drained?()
                if let now { waiting.resume(returning: now) }
            }
        } onCancel: {
            let consumer = state.withLock { state in
                defer { state.consumer = nil }
                return state.consumer
            }
            consumer?.resume(returning: nil)
        }
    }
}
