import Foundation

/// Lines that are typed. Whoever asks something in the terminal holds the keyboard meanwhile, so
/// that the answer is not taken for a line.
final class Keyboard: @unchecked Sendable {
    private let lock = NSLock()
    private var holders = 0
    private var unfinished: [UInt8] = []

    func hold() { lock.withLock { holders += 1 } }

    func release() { lock.withLock { holders -= 1 } }

    /// - Parameter take: Called on the main queue; nil at the end of input.
    func begin(_ take: @escaping (String?) -> Void) {
        Thread.detachNewThread { [self] in
            while let lines = next() {
                for line in lines { DispatchQueue.main.async { take(line) } }
            }
            DispatchQueue.main.async { take(nil) }
        }
    }

    /// What was typed since; nil at the end of input.
    private func next() -> [String]? {
        guard lock.withLock({ holders == 0 }) else {
            usleep(20_000)
            return []
        }
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 50) > 0, lock.withLock({ holders == 0 }) else { return [] }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else { return nil }
        unfinished += buffer.prefix(count)
        var lines: [String] = []
        while let end = unfinished.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: unfinished[..<end], as: UTF8.self))
            unfinished.removeSubrange(...end)
        }
        return lines
    }
}
