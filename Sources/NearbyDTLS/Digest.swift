import COpenSSL

/// SHA-256 and what is built on it.
enum Digest {
    static let byteCount = 32

    static func sha256(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        filled { output in
            EVP_Digest(message.baseAddress, message.count, output, nil, EVP_sha256(), nil) == 1
        }
    }

    /// HMAC-SHA-256 (RFC 2104).
    static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        filled { output in
            HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, output, nil)
                != nil
        }
    }

    /// HKDF-SHA-256 (RFC 5869) without salt, one block: PRK = HMAC(0…0, secret), key = HMAC(PRK,
    /// info ‖ 1).
    static func deriveKey(from secret: [UInt8], info: [UInt8]) -> [UInt8] {
        let extracted = hmac(key: [UInt8](repeating: 0, count: byteCount), secret)
        return hmac(key: extracted, info + [1])
    }

    private static func filled(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            precondition(body(buffer.baseAddress), "OpenSSL could not digest")
            count = byteCount
        }
    }
}
