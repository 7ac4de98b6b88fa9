import Glibc

/// A system call that failed, with its `errno`.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name and what it was about: `bind 0.0.0.0:4577`.
    public let call: String
    public let code: Int32

    public init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The failure that the calling thread has just seen.
    static func last(_ call: String) -> SystemError { SystemError(call: call, code: errno) }

    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// A file descriptor that is closed with its last owner.
public final class FileDescriptor: Sendable {
    public let raw: Int32

    /// Takes over a descriptor that a call has just returned; a negative one throws that call's
    /// error.
    public init(taking raw: Int32, from call: String) throws(SystemError) {
        guard raw >= 0 else { throw .last(call) }
        self.raw = raw
    }

    deinit { close(raw) }

    /// Sets an integer option; throws if the kernel refuses it.
    func set(_ option: Int32, at level: Int32, to value: Int32) throws(SystemError) {
        guard trySet(option, at: level, to: value) else { throw .last("setsockopt \(option)") }
    }

    /// Sets an integer option that we can do without; false if the kernel refuses it.
    @discardableResult
    func trySet(_ option: Int32, at level: Int32, to value: Int32) -> Bool {
        var value = value
        return setsockopt(raw, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }
}
