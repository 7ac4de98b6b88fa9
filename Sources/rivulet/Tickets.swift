import ArgumentParser
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

struct MakeTicket: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ticket",
        abstract: "Print a ticket by which another node finds the one that runs here.",
        discussion: "It only says where this node is: the other needs the network's secret too.")

    @Option(
        parsing: .unconditional,
        help: "How long it is valid, such as 30min or '1 day': 1h by default, 30 days at most.",
        transform: Span.parse)
    var valid = Span(duration: .seconds(3_600))
    @Flag(help: "Print it as a QR code too.") var qr = false
    @OptionGroup var node: NodeSocket

    func validate() throws {
        guard 1...Int64(Limits.ticketSecondsMax) ~= valid.duration.components.seconds else {
            throw ValidationError("a ticket is valid for 1 s to 30 days")
        }
    }

    func run() throws {
        let answer = try ask(node, "ticket \(valid.duration.components.seconds)")
        let words = answer.split(separator: " ").map(String.init)
        guard let ticket = words.first else { throw Failure("the node gave no ticket", .data) }
        if words.count > 1 {
            StandardErrorLog().write(
                .warning, "this machine's clock was never set: others will find it expired")
        }
        print(ticket)
        if qr { print(try QRCode(ticket.uppercased()).text) }
    }
}

struct Connect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect the node that runs here to the one that a ticket names.")

    @Argument(help: "The ticket, as `rivulet ticket` printed it.") var ticket: [String]
    @Option(
        parsing: .unconditional, help: "How long to wait for the connection: 10s by default.",
        transform: Span.parse)
    var wait = Span(duration: .seconds(10))
    @OptionGroup var node: NodeSocket

    func run() throws {
        let peer = try ask(node, "connect \(ticket.joined())")
        let deadline = MonotonicClock.now() + wait.duration
        while MonotonicClock.now() < deadline {
            do {
                return print("connected to \(try ask(node, "connected \(peer)"))")
            } catch let failure as Failure where failure.description.hasPrefix("refused: ") {
                throw Failure(failure.description, .unavailable)
            } catch {}
            usleep(100_000)
        }
        throw Failure(
            "\(peer) did not answer within \(wait.duration.components.seconds) s; the node goes on "
                + "trying. Is it running, and does a firewall let UDP through?", .tryAgain)
    }
}

/// Asks the node that runs here; what it refuses is an error.
private func ask(_ node: NodeSocket, _ request: String) throws -> String {
    let answer: String
    do {
        answer = try node.query().ask(request)
    } catch {
        throw Failure(error)
    }
    let words = answer.split(separator: " ", maxSplits: 1)
    guard words.first == "ok" else {
        throw Failure(words.first == "error" ? String(words.last ?? "") : answer, .data)
    }
    return String(words.last ?? "")
}
