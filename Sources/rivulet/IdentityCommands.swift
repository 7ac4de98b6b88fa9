import ArgumentParser
import Configuration
import Glibc
import NodeShell
import Setup

/// What this node is known by, and what an authority says of it.
struct IdentityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Show this node's PeerID and certificate, or have it signed by an authority.",
        discussion: """
            For `trust: authority`: `request` prints what the authority signs, `import` stores \
            what it gave. deploy/authority.md shows how to be an authority with openssl.
            """,
        subcommands: [Show.self, Request.self, Import.self, Adopt.self],
        defaultSubcommand: Show.self)

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the PeerID, where its key is, and what its certificate says.")

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            for line in try NodeKeys(try file.settings()).lines() { print(line) }
        }
    }

    struct Request: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a certificate request (PKCS #10) for this node's key.",
            discussion: """
                It asks for the role that is configured; what the authority grants is its own \
                decision. The key is made if there is none, and never leaves this machine.
                """)

        @OptionGroup var file: ConfigurationFile
        @Option(help: "Another role to ask for: agent, relay, collector or viewer.")
        var role: ConfiguredRole?

        func run() throws {
            print(try NodeKeys(try file.settings()).request(as: role), terminator: "")
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store the certificate that the authority signed, if it is right.",
            discussion: """
                PEM: this node's certificate, then those between it and the authority's, if any. \
                It is checked against this node's key, its role, and the authority's certificate.
                """)

        @OptionGroup var file: ConfigurationFile
        @Argument(help: "The file; - is standard input.") var certificate: String

        func run() throws {
            let settings = try file.settings()
            for line in try NodeKeys(settings).store(try content()) { print(line) }
        }

        private func content() throws -> [UInt8] {
            do throws(SmallFile.Fault) {
                return certificate == "-"
                    ? try SmallFile.readStandardInput(limit: Self.bytesMax)
                    : try SmallFile.read(certificate, limit: Self.bytesMax)
            } catch {
                throw Failure("\(certificate): \(error)", ExitStatus(code: error.systemCode))
            }
        }

        private static let bytesMax = 65_536
    }

    struct Adopt: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the identity that was made on another board belong to this one.",
            discussion: """
                For a board that was replaced, with the same card. Two boards with one identity \
                disturb each other: where the card was copied, move identity.pem of the copy away.
                """)

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            let peer = try NodeKeys(try file.settings()).adopt()
            print("\(peer) belongs to this board now")
        }
    }
}
