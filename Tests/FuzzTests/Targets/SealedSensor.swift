import COpenSSL

/// What a sensor with a key does before it advertises: AES-128-CCM with a tag of 4 bytes (RFC
/// 3610), by OpenSSL.
enum SealedSensor {
    static let key = [UInt8](repeating: 0xaa, count: 16)

    static func seal(
        _ plain: ArraySlice<UInt8>, nonce: [UInt8], associated: [UInt8] = []
    ) -> (sealed: [UInt8], tag: [UInt8]) {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        let plain = Array(plain)
        var sealed = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: 4)
        var count: Int32 = 0
        let isDone =
            EVP_EncryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 4, nil) == 1
            && EVP_EncryptInit_ex(context, nil, nil, key, nonce) == 1
            && EVP_EncryptUpdate(context, nil, &count, nil, Int32(plain.count)) == 1
            && (associated.isEmpty
                || EVP_EncryptUpdate(context, nil, &count, associated, Int32(associated.count))
                    == 1)
            && EVP_EncryptUpdate(context, &sealed, &count, plain, Int32(plain.count)) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 4, &tag) == 1
        precondition(isDone, "OpenSSL does not encrypt")
        return (sealed, tag)
    }
}
