import Alarms
import CollectorConfiguration
import Configuration
import OutputFiles
import OutputHTTP
import Outputs
import Synchronization

/// Who is told of an alarm, by whatever may block: one at a time.
enum AlarmTarget: Sendable {
    case webhook(WebhookTarget)
    case program(AlarmProgram)

    /// Nil for brokers, which the outputs tell.
    init?(_ settings: AlarmSettings.Target) {
        switch settings {
        case .webhook(let server): self = .webhook(WebhookTarget(server))
        case .command(let words, let timeLimit):
            self = .program(AlarmProgram(words, timeLimit: timeLimit))
        case .mqtt: return nil
        }
    }

    /// Why it could not be told; nil: it was.
    func fault(telling message: AlarmMessage) -> String? {
        do throws(OutputFault) {
            switch self {
            case .webhook(let target): try target.post(message.json)
            case .program(let program): try program.run(message.environment)
            }
            return nil
        } catch {
            return error.description
        }
    }
}

extension AlarmSettings.Target {
    /// Tells targets apart, from one start of the program to the next, whatever else is said of
    /// them. Of an address it shows what is no secret: what stands behind the host is hashed
    /// (FNV-1a, 64 bits).
    var identity: String {
        switch self {
        case .webhook(let server):
            let text = server.address?.text ?? ""
            let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
            }
            return "webhook \(server.address?.target ?? "") \(String(hash, radix: 16))"
        case .command(let words, _): return "command " + words.joined(separator: " ")
        case .mqtt: return "mqtt"
        }
    }
}

/// A change as those who are told get it.
struct AlarmMessage: Sendable {
    var json: String
    /// `NAME=value`.
    var environment: [String]

    init(_ change: AlarmChange, unixOffset: Duration, collector: Settings) {
        json = change.json(
            unixOffset: unixOffset, collector: collector.name, network: collector.network)
        environment = change.environment(unixOffset: unixOffset).map { "\($0.name)=\($0.value)" }
    }
}

/// A webhook, whose connection stays open from one alarm to the next, on whatever thread.
final class WebhookTarget: Sendable {
    private let webhook: Mutex<Webhook>

    init(_ server: HTTPServer) { webhook = Mutex(Webhook(server)) }

    func post(_ json: String) throws(OutputFault) {
        try webhook.withLock { webhook throws(OutputFault) in try webhook.post(json: json) }
    }
}
