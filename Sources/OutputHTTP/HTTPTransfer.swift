import CCurl

/// What libcurl writes to, and borrows, while a request runs: on the heap, where it stays.
final class HTTPTransfer {
    static let bodyBytesMax = 64 * 1_024

    private(set) var body: [UInt8] = []
    private(set) var isFull = false
    private let message: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?

    init() {
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_slist_free_all(headers)
        message.deallocate()
    }

    /// What libcurl says of a fault, as far as it knows more than its code.
    var errorText: String { String(cString: message) }

    func attach(to curl: UnsafeMutableRawPointer) {
        _ = ccurl_set_pointer(curl, CURLOPT_ERRORBUFFER, message)
        _ = ccurl_set_writer(
            curl,
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let transfer = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
                return transfer.write(UnsafeRawBufferPointer(start: bytes, count: size * count))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func setHeaders(_ lines: [String], of curl: UnsafeMutableRawPointer) {
        curl_slist_free_all(headers)
        headers = nil
        for line in lines { headers = curl_slist_append(headers, line) ?? headers }
        _ = ccurl_set_headers(curl, headers)
    }

    func begin() {
        body = []
        isFull = false
        message[0] = 0
    }

    /// Frees the lines of the request, one of which may have a token.
    func end() {
        curl_slist_free_all(headers)
        headers = nil
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let room = Self.bodyBytesMax - body.count
        body.append(contentsOf: bytes.prefix(room))
        isFull = bytes.count > room
        return isFull ? 0 : bytes.count
    }
}
