import Foundation

/// Lines to everybody, over a stream to each.
final class Dictation {
    private let streams: [OutputStream]

    init(_ streams: [OutputStream]) {
        self.streams = streams
        for stream in streams { stream.open() }
    }

    /// Waits while a stream is full.
    func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        for stream in streams {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBufferPointer { buffer in
                    stream.write(buffer.baseAddress!, maxLength: buffer.count)
                }
                guard count > 0 else { break }
                sent += count
            }
        }
    }

    func end() {
        for stream in streams { stream.close() }
    }
}

/// Lines from a stream, as they come, on the main run loop.
final class Listener: NSObject, StreamDelegate {
    private let stream: InputStream
    /// Each line; nil at the end.
    private let take: (String?) -> Void
    private var unfinished: [UInt8] = []

    init(_ stream: InputStream, take: @escaping (String?) -> Void) {
        self.stream = stream
        self.take = take
        super.init()
        stream.delegate = self
        stream.schedule(in: .main, forMode: .default)
        stream.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .endEncountered, .errorOccurred:
            stream.close()
            stream.remove(from: .main, forMode: .default)
            take(nil)
        default: break
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count > 0 else { return }
        unfinished += buffer.prefix(count)
        while let end = unfinished.firstIndex(of: UInt8(ascii: "\n")) {
            take(String(decoding: unfinished[..<end], as: UTF8.self))
            unfinished.removeSubrange(...end)
        }
    }
}
