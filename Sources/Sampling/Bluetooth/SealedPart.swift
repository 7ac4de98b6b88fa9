/// What a device put into its advertisement under its key: AES-128 in counter mode with CBC-MAC
/// (RFC 3610), with a tag of 4 bytes.
package struct SealedPart {
    package static let tagByteCount = 4

    package var bytes: ArraySlice<UInt8>
    package var tag: ArraySlice<UInt8>
    /// 7 to 13 bytes.
    package var nonce: [UInt8]
    /// Proved by the tag, though not in the advertisement.
    package var associated: [UInt8] = []
}

/// The plain text of a sealed part; nil where the tag is not right.
package typealias SealOpener = @Sendable (SealedPart) -> [UInt8]?
