/// What a node wants of encryption, with MultipeerConnectivity's words.
public enum EncryptionPreference: UInt8, CaseIterable, Sendable {
    case none = 0
    case optional = 1
    case required = 2

    /// Whether two preferences go together, and if so, whether the channel is encrypted; nil: they
    /// refuse each other. none + required refuse; none + optional is readable; all else is
    /// encrypted.
    public static func agreed(_ left: EncryptionPreference, _ right: EncryptionPreference) -> Bool?
    {
        switch (left, right) {
        case (.none, .required), (.required, .none): nil
        case (.none, _), (_, .none): false
        default: true
        }
    }
}
