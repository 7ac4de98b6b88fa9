import Foundation

/// A value that several threads use, one at a time.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A delegate: weak, and set and read from any thread.
final class Delegate: @unchecked Sendable {
    private let lock = NSLock()
    private weak var object: AnyObject?

    var current: AnyObject? {
        get {
            lock.lock()
            defer { lock.unlock() }
            return object
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            object = newValue
        }
    }
}

extension DispatchQueue {
    /// Does it on the queue, in its turn, and returns when it was done.
    func deliver(_ call: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            async {
                call()
                continuation.resume()
            }
        }
    }
}

/// A value that is handed to another thread, whose only user it then is.
struct Handed<Value>: @unchecked Sendable {
    let value: Value
}

/// The same for an object, without holding it.
struct Loose<Object: AnyObject>: @unchecked Sendable {
    private(set) weak var object: Object?

    init(_ object: Object) { self.object = object }
}
