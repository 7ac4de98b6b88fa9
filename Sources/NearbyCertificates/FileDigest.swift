import COpenSSL

/// SHA-256 over what comes in pieces.
public final class FileDigest {
    private let context: OpaquePointer

    public init() {
        guard let context = EVP_MD_CTX_new(),
            EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        else { preconditionFailure("OpenSSL could not digest") }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    public func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// 32 bytes; nothing can be added afterwards.
    public func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = 32
        }
    }
}
