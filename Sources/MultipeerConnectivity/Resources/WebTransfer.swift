import CCurl
import Foundation

/// One transfer of libcurl into a file. Used by one thread.
final class WebTransfer {
    private let file: Int32
    private let openFault: Int32
    private let isCancelled: () -> Bool
    private let curl = isReady ? curl_easy_init() : nil
    private var writeFault: Int32 = 0
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// Once in the process, before any thread uses libcurl.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameters:
    ///   - path: Of a file that is not there yet.
    ///   - isCancelled: Asked at least once a second.
    init(into path: String, isCancelled: @escaping () -> Bool) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        openFault = file < 0 ? errno : 0
        self.isCancelled = isCancelled
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        if let curl { curl_easy_cleanup(curl) }
        if file >= 0 { close(file) }
        message.deallocate()
    }

    /// Blocks until all is there.
    ///
    /// - Returns: why it did not come; nil if it did.
    func fault(of url: URL) -> String? {
        guard openFault == 0 else { return Self.text(of: openFault) }
        guard let curl else { return "libcurl could not be initialized" }
        prepare(curl, url)
        let code = curl_easy_perform(curl)
        if writeFault != 0 { return Self.text(of: writeFault) }
        let status = ccurl_status(curl)
        guard (200..<300).contains(status) || status == 0 && code != CURLE_OK else {
            return "the server answered \(status)"
        }
        guard code != CURLE_OK else { return nil }
        let text = String(cString: message)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    private func prepare(_ curl: UnsafeMutableRawPointer, _ url: URL) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_set_text(curl, CURLOPT_URL, url.absoluteString)
        _ = ccurl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = ccurl_set_text(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        _ = ccurl_set_long(curl, CURLOPT_FOLLOWLOCATION, 1)
        _ = ccurl_set_long(curl, CURLOPT_MAXREDIRS, 16)
        _ = ccurl_set_long(curl, CURLOPT_NOSIGNAL, 1)
        _ = ccurl_set_long(curl, CURLOPT_CONNECTTIMEOUT, Self.patience)
        // As slow as it may be, but not silent.
        _ = ccurl_set_long(curl, CURLOPT_LOW_SPEED_LIMIT, 1)
        _ = ccurl_set_long(curl, CURLOPT_LOW_SPEED_TIME, Self.patience)
        _ = ccurl_set_pointer(curl, CURLOPT_ERRORBUFFER, message)
        _ = ccurl_set_writer(
            curl,
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let transfer = Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue()
                return transfer.write(UnsafeRawBufferPointer(start: bytes, count: size * count))
            }, context)
        _ = ccurl_set_watcher(
            curl,
            { context, _, _, _, _ in
                guard let context else { return 1 }
                let transfer = Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue()
                return transfer.isCancelled() ? 1 : 0
            }, context)
    }

    /// Less than all ends the transfer: what comes with an answer that is no success is not wanted.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let curl, (200..<300).contains(ccurl_status(curl)) else { return 0 }
        var done = 0
        while done < bytes.count {
            let part = Foundation.write(
                file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if part < 0, errno == EINTR { continue }
            guard part > 0 else {
                writeFault = errno
                return done
            }
            done += part
        }
        return done
    }

    private static func text(of code: Int32) -> String {
        "cannot write to the temporary file: \(String(cString: strerror(code)))"
    }

    /// Seconds without anything, as URLSession's.
    private static let patience = 60
}
