import Glibc
import NearbyCore
import NearbyLinux

/// Hands a value to another thread; the test waits for that thread before it looks.
final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// A thread of its own for a piece of a test: it may block, or change its network namespace.
struct Thread<Value> {
    private let thread: pthread_t
    private let result: Box<Result<Value, any Error>?>

    init(_ body: @escaping () throws -> Value) {
        let result = Box<Result<Value, any Error>?>(nil)
        let work = Unmanaged.passRetained(Box<() -> Void> { result.value = Result(catching: body) })
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box<() -> Void>>.fromOpaque(argument).takeRetainedValue().value()
                return nil
            }, work.toOpaque())
        self.thread = thread
        self.result = result
    }

    /// Waits for its end.
    func join() throws -> Value {
        pthread_join(thread, nil)
        guard let result = result.value else { throw SystemError(call: "thread", code: ESRCH) }
        return try result.get()
    }
}

/// Calls `attempt` every 2 ms until it says true or `limit` has passed; its last answer.
func eventually(within limit: Duration = .seconds(5), _ attempt: () throws -> Bool) rethrows -> Bool
{
    let end = MonotonicClock.now() + limit
    while MonotonicClock.now() < end {
        if try attempt() { return true }
        usleep(2_000)
    }
    return try attempt()
}

/// A path for this process and test alone.
func temporaryPath(_ name: String) -> String { "/tmp/rivulet-test-\(getpid())-\(name)" }
