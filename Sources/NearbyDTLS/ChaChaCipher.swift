import COpenSSL
import NearbyEngine

/// ChaCha20-Poly1305 (RFC 8439) over one reused EVP context: boards have no AES instructions.
///
/// Allocates nothing once made, provided that the frame has room for 16 more bytes.
final class ChaChaCipher: FrameCipher {
    private let context: OpaquePointer
    /// 12 bytes of IV, then 12 bytes for the nonce at hand.
    private let iv: UnsafeMutablePointer<UInt8>
    private static let ivByteCount = 12

    init(key: ArraySlice<UInt8>, iv ivBytes: ArraySlice<UInt8>) {
        precondition(
            key.count == 32 && ivBytes.count == Self.ivByteCount, "32 bytes of key and 12 of IV")
        iv = .allocate(capacity: 2 * Self.ivByteCount)
        for (index, byte) in ivBytes.enumerated() {
            iv[index] = byte
            iv[index + Self.ivByteCount] = byte
        }
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("EVP_CIPHER_CTX_new") }
        self.context = context
        let ready = key.withUnsafeBufferPointer {
            EVP_CipherInit_ex(context, EVP_chacha20_poly1305(), nil, $0.baseAddress, iv, 1)
        }
        precondition(ready == 1, "this OpenSSL lacks ChaCha20-Poly1305")
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        OPENSSL_cleanse(iv, 2 * Self.ivByteCount)
        iv.deallocate()
    }

    func seal(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool) {
        precondition(
            headerByteCount >= 0 && headerByteCount <= frame.count, "the header is in the frame")
        let end = frame.count
        frame.append(contentsOf: repeatElement(0, count: frameTagByteCount))
        let sealed = frame.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return run(base, headerByteCount, end, sequence, encrypted: encrypted, sealing: true)
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(frameTagByteCount), base + end) == 1
        }
        precondition(sealed, "OpenSSL could not seal a frame")
    }

    func open(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool)
        -> Bool
    {
        let end = frame.count - frameTagByteCount
        guard headerByteCount >= 0, headerByteCount <= end else { return false }
        let authentic = frame.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            // The tag must be known before the final step, and the nonce before the tag.
            return run(base, headerByteCount, end, sequence, encrypted: encrypted, sealing: false)
        }
        frame.removeLast(frameTagByteCount)
        return authentic
    }

    /// Of a failure nothing stays for whoever asks OpenSSL next. To clear before each frame would
    /// be an eighth of the time.
    private func run(
        _ base: UnsafeMutablePointer<UInt8>, _ headerByteCount: Int, _ end: Int, _ sequence: UInt64,
        encrypted: Bool, sealing: Bool
    ) -> Bool {
        let isDone = transform(
            base, headerByteCount, end, sequence, encrypted: encrypted, sealing: sealing)
        if !isDone { ERR_clear_error() }
        return isDone
    }

    /// Nonce, associated data, payload in place, end; when opening also the check of the tag behind
    /// `end`.
    private func transform(
        _ base: UnsafeMutablePointer<UInt8>, _ headerByteCount: Int, _ end: Int, _ sequence: UInt64,
        encrypted: Bool, sealing: Bool
    ) -> Bool {
        let nonce = setNonce(sequence)
        let associated = encrypted ? headerByteCount : end
        var count: Int32 = 0
        guard EVP_CipherInit_ex(context, nil, nil, nil, nonce, sealing ? 1 : 0) == 1 else {
            return false
        }
        if !sealing {
            let tag = Int32(frameTagByteCount)
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag, base + end) == 1 else {
                return false
            }
        }
        if associated > 0 {
            guard EVP_CipherUpdate(context, nil, &count, base, Int32(associated)) == 1 else {
                return false
            }
        }
        if associated < end {
            let payload = base + associated
            guard EVP_CipherUpdate(context, payload, &count, payload, Int32(end - associated)) == 1
            else {
                return false
            }
        }
        return EVP_CipherFinal_ex(context, base + end, &count) == 1
    }

    /// RFC 8446 §5.3: the IV with the sequence xored into its last 8 bytes.
    private func setNonce(_ sequence: UInt64) -> UnsafeMutablePointer<UInt8> {
        let nonce = iv + Self.ivByteCount
        for index in 0..<8 {
            let byte = UInt8(truncatingIfNeeded: sequence >> UInt64(56 - 8 * index))
            nonce[4 + index] = iv[4 + index] ^ byte
        }
        return nonce
    }
}
