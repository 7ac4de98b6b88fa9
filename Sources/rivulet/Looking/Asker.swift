import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Survey

/// A running node, asked about others.
struct Asker {
    let map: NetworkMap
    private let query: StatusQuery

    init(_ socket: NodeSocket) throws {
        query = try socket.query()
        do {
            map = try NetworkMap(status: query.ask("status"))
        } catch {
            throw Failure(error)
        }
    }

    /// The node that is meant.
    func peer(named text: String) throws -> PeerID {
        do throws(SurveyError) {
            return try map.peer(named: text)
        } catch {
            if case .unknown = error { throw Failure("\(error)", .noInput) }
            throw Failure("\(error)", .usage)
        }
    }

    func ask(_ peer: PeerID, hopLimit: Int?, patience: Duration) throws -> EchoReply {
        let request = EchoReply.request(peer, hopLimit: hopLimit, patience: patience)
        do {
            let line = try query.ask(request, timeout: patience + .seconds(5))
            return try EchoReply(line: line)
        } catch {
            throw Failure(error)
        }
    }

    func noRoute(to peer: PeerID) -> Failure {
        let why: String
        if let member = map[peer], !member.isOnline {
            why = "it is \(map.reach(of: member))"
        } else {
            why = "`rivulet status` lists the nodes in reach"
        }
        return Failure("\(SurveyError.noRoute(map.fullLabel(of: peer), why: why))", .unavailable)
    }
}

/// Ctrl-C, noticed between two steps; a second one ends the program.
enum Interruption {
    nonisolated(unsafe) private static var flag: sig_atomic_t = 0

    static var came: Bool { flag != 0 }

    static func watch() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interruption.flag = 1 }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
    }

    /// Ends early where it came.
    static func sleep(until end: Instant) {
        while !came {
            let rest = (end - MonotonicClock.now()).nanoseconds
            guard rest > 0 else { return }
            var time = timespec(
                tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            nanosleep(&time, nil)
        }
    }
}
