import CLinux
import Glibc
import NearbyCore
import Synchronization

extension Limits {
    /// Messages that wait in one mailbox.
    public static let mailboxMessagesMax = 1_024
    /// Messages that one pass of the event loop takes out of a mailbox.
    public static let mailboxMessagesPerPass = 128
}

/// The only way from another thread into the event loop: a bounded queue of values and an eventfd.
public final class Mailbox<Message: Sendable>: Sendable {
    private let queue = Mutex<[Message]>([])
    private let bell: FileDescriptor
    private let capacity: Int

    public init(capacity: Int = Limits.mailboxMessagesMax) throws(SystemError) {
        self.capacity = capacity
        let flags = Int32(EFD_CLOEXEC | EFD_NONBLOCK)
        bell = try FileDescriptor(taking: eventfd(0, flags), from: "eventfd")
    }

    /// Becomes readable when there is something to take.
    public var descriptor: Int32 { bell.raw }

    /// Queues a message, from any thread. False if the mailbox is full: the message was not taken.
    public func post(_ message: Message) -> Bool {
        let isTaken = queue.withLock { waiting in
            if waiting.count < capacity {
                waiting.append(message)
                return true
            }
            return false
        }
        if isTaken { ring() }
        return isTaken
    }

    /// The oldest messages in the order of their posting, at most `limit`. For the loop's thread.
    public func take(_ limit: Int = Limits.mailboxMessagesPerPass) -> [Message] {
        var rings: UInt64 = 0
        read(bell.raw, &rings, 8)
        let (taken, isMore) = queue.withLock { waiting in
            let taken = Array(waiting.prefix(limit))
            waiting.removeFirst(taken.count)
            return (taken, !waiting.isEmpty)
        }
        if isMore { ring() }
        return taken
    }

    private func ring() {
        var one: UInt64 = 1
        write(bell.raw, &one, 8)
    }
}

extension EventLoop {
    /// Calls `handler` on the loop's thread with every message that is posted.
    public func register<Message: Sendable>(
        _ mailbox: Mailbox<Message>, handler: @escaping (Message) -> Void
    ) throws(SystemError) {
        try register(mailbox.descriptor) { _ in mailbox.take().forEach(handler) }
    }
}
