import ArgumentParser
import Configuration
import FileTransfer
import Glibc
import Nearby
import NodeShell

/// Among whom files are exchanged, and what we are called there.
struct ServiceChoice: ParsableArguments {
    @Option(
        help: "Exchange files with everybody nearby who names the same type, without a network.")
    var service: String?
    @OptionGroup var file: ConfigurationFile
    @Option(help: "What others see; otherwise the node's name, or the host's.") var name: String?

    func validate() throws {
        if service != nil, file.config != nil {
            throw ValidationError("--service and --config exclude each other")
        }
    }

    func made() throws -> (service: Service, name: String) {
        do throws(NearbyError) {
            if let service { return (try Service(service), name ?? Self.hostName) }
        } catch {
            throw Failure("--service: \(error)", .usage)
        }
        let settings = try loaded(try file.required(orGive: "--service TYPE"))
        guard !settings.secrets.isEmpty else {
            throw Failure(
                "\(settings.file): files are exchanged in networks with a secret; give --service "
                    + "TYPE to exchange them with anybody", .configuration)
        }
        do throws(NearbyError) {
            return (
                try Service(network: settings.network, secrets: settings.secrets),
                name ?? settings.name
            )
        } catch {
            throw Failure("\(settings.file): \(error)", .configuration)
        }
    }

    /// Our own peer, the same as the last time.
    func peer(_ name: String, role: String, hint: String = "") throws -> KeptPeer {
        let peer: KeptPeer
        do throws(NearbyError) {
            peer = try KeptPeer(role: role, name: name, hint: hint)
        } catch {
            throw Failure("--name: \(error)", .usage)
        }
        if !peer.isKept {
            complain(
                "there is nowhere to keep this program's identity (set HOME or XDG_STATE_HOME): a "
                    + "broken transfer would begin anew")
        }
        return peer
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 64)
        gethostname(&bytes, bytes.count - 1)
        let name = String(
            decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty ? "somebody" : name
    }
}

extension Failure {
    init(_ fault: TransferFault) {
        let status: ExitStatus =
            switch fault.kind {
            case .noInput: .noInput
            case .notPermitted: .notPermitted
            case .ambiguous: .usage
            case .unavailable: .unavailable
            case .cannotCreate: .cannotCreate
            case .inputOutput: .inputOutput
            case .tryAgain, .cancelled: .tryAgain
            }
        self.init(fault.description, status)
    }
}
