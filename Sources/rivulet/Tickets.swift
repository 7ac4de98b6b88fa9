import ArgumentParser
import Glibc
import NearbyCore
import NearbyLinux
import Program

struct MakeTicket: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ticket",
        abstract: "Print a ticket by which another node finds the one that runs here.",
        discussion: "It says where this node is, and opens no door: the network's secret does.")

    @Option(help: "How long it is valid, such as 10min, 2h or 7d.")
    var valid = Span(duration: .seconds(3_600))
    @Flag(help: "As a QR code too.") var qr = false
    @Option(help: "The node's control socket.") var socket = "/run/rivulet/agent.sock"

    func run() throws {
        let answer = try ask(socket, "ticket \(valid.duration.components.seconds)")
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
        abstract: "Let the node that runs here connect to the one that a ticket names.")

    @Argument(help: "The ticket, as `rivulet ticket` printed it.") var ticket: [String]
    @Option(help: "How long to wait for the connection, such as 10s.")
    var wait = Span(duration: .seconds(10))
    @Option(help: "The node's control socket.") var socket = "/run/rivulet/agent.sock"

    func run() throws {
        let peer = try ask(socket, "connect \(ticket.joined())")
        let deadline = MonotonicClock.now() + wait.duration
        while MonotonicClock.now() < deadline {
            do {
                return print("connected to \(try ask(socket, "connected \(peer)"))")
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
private func ask(_ socket: String, _ request: String) throws -> String {
    let answer: String
    do {
        answer = try StatusQuery(socket: socket).ask(request)
    } catch {
        throw Failure(error)
    }
    let words = answer.split(separator: " ", maxSplits: 1)
    guard words.first == "ok" else {
        throw Failure(words.first == "error" ? String(words.last ?? "") : answer, .data)
    }
    return String(words.last ?? "")
}
