import COpenSSL
import Sampling

/// AES-128 in counter mode with CBC-MAC (RFC 3610), as sensors use it: a tag of 4 bytes.
enum CCMCipher {
    static let keyByteCount = 16

    /// Opens what was sealed with this key, of 16 bytes.
    static func opener(_ key: [UInt8]) -> SealOpener { { open($0, key: key) } }

    private static func open(_ part: SealedPart, key: [UInt8]) -> [UInt8]? {
        let (nonce, associated) = (part.nonce, part.associated)
        guard !part.bytes.isEmpty, part.tag.count == SealedPart.tagByteCount,
            key.count == keyByteCount, (7...13).contains(nonce.count),
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        ERR_clear_error()
        // What an error leaves behind is not for the handshakes of this thread to find.
        defer { ERR_clear_error() }
        var tag = Array(part.tag)
        let sealed = Array(part.bytes)
        var plain = [UInt8](repeating: 0, count: sealed.count)
        var count: Int32 = 0
        let nonceBytes = Int32(nonce.count)
        guard EVP_DecryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, nonceBytes, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_DecryptInit_ex(context, nil, nil, key, nonce) == 1,
            // CCM wants the length before anything else.
            EVP_DecryptUpdate(context, nil, &count, nil, Int32(sealed.count)) == 1,
            associated.isEmpty
                || EVP_DecryptUpdate(context, nil, &count, associated, Int32(associated.count))
                    == 1,
            EVP_DecryptUpdate(context, &plain, &count, sealed, Int32(sealed.count)) == 1,
            Int(count) == sealed.count
        else { return nil }
        return plain
    }
}
