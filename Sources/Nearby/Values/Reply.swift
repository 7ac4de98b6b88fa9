import Synchronization

/// What tasks wait for, told once from any thread.
final class Reply<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NearbyError>

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The first outcome counts.
    ///
    /// - Returns: whether this is it.
    @discardableResult
    func resolve(_ outcome: Outcome) -> Bool {
        let (isFirst, waiters) = state.withLock { state in
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            defer { state.waiters = [:] }
            return (isFirst, Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
        return isFirst
    }

    var isResolved: Bool { state.withLock { $0.outcome != nil } }

    /// What was told, if that was a value.
    var told: Value? { state.withLock { try? $0.outcome?.get() } }

    /// Waits until it is told. Cancelled, it throws `.cancelled` at once; others wait on.
    func value() async throws(NearbyError) -> Value {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Outcome, Never>) in
                let told = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(.cancelled) }
                    state.waiters[number] = waiter
                    return nil
                }
                if let told { waiter.resume(returning: told) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(returning: .failure(.cancelled))
        }
        return try outcome.get()
    }

    /// The same for the one who asked: cancelled, nothing is wanted any more.
    func value(onCancel: @escaping @Sendable () -> Void) async throws(NearbyError) -> Value {
        let outcome = await withTaskCancellationHandler {
            do throws(NearbyError) {
                return Outcome.success(try await value())
            } catch {
                return Outcome.failure(error)
            }
        } onCancel: {
            resolve(.failure(.cancelled))
            onCancel()
        }
        return try outcome.get()
    }
}

extension Reply where Value == Void {
    func succeed() { resolve(.success(())) }
}
