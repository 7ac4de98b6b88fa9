import Foundation
import MultipeerConnectivity

/// What the command line says.
struct Options {
    let name: String
    private(set) var identity: MCIdentity?
    /// Whom a chain has to lead to; nil: nobody is asked for certificates.
    private(set) var anchor: Data?
    private(set) var encryption = MCEncryptionPreference.required
    private(set) var serviceType = "certificates"

    static let usage = """
        usage: example-certificates NAME [identity=FILE.p12] [password=TEXT] [anchor=FILE.cer]
                                    [encryption=none|optional|required] [service=TYPE]
        """

    /// Nil for what is not understood.
    init?(_ arguments: [String]) throws {
        guard let name = arguments.first else { return nil }
        self.name = name
        var values: [String: String] = [:]
        for argument in arguments.dropFirst() {
            let pair = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { return nil }
            values[pair[0]] = pair[1]
        }
        if let file = values["identity"] {
            identity = try MCIdentity(
                pkcs12: Data(contentsOf: URL(fileURLWithPath: file)),
                password: values["password"] ?? "")
        }
        if let file = values["anchor"] {
            anchor = try Data(contentsOf: URL(fileURLWithPath: file))
        }
        switch values["encryption"] ?? "required" {
        case "none": encryption = .none
        case "optional": encryption = .optional
        case "required": encryption = .required
        default: return nil
        }
        if let type = values["service"] { serviceType = type }
    }
}
