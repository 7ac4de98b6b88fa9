import COpenSSL

/// AES-128 in counter mode with CBC-MAC (RFC 3610), as sensors use it: a tag of 4 bytes.
enum CCMCipher {
    static let keyByteCount = 16
    static let tagByteCount = 4

    /// The plain text, or nil where the tag is not right.
    ///
    /// A key of 16 bytes; a nonce of 7 to 13.
    static func open(
        _ sealed: ArraySlice<UInt8>, tag: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8],
        associated: [UInt8] = []
    ) -> [UInt8]? {
        guard !sealed.isEmpty, tag.count == tagByteCount, key.count == keyByteCount,
            (7...13).contains(nonce.count), let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        ERR_clear_error()
        // What an error leaves behind is not for the handshakes of this thread to find.
        defer { ERR_clear_error() }
        var tag = Array(tag)
        let sealed = Array(sealed)
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
