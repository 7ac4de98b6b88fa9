import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import Telemetry

@testable import FleetPage

let hostileName = "<script>alert(\"1\")</script>\\"

/// A node with two channels that was heard a second ago.
func node(_ number: UInt64, _ name: String) -> FleetNode {
    var node = FleetNode(peer: PeerID(high: number, low: 0), name: name, role: "agent")
    node.isOnline = true
    node.age = .seconds(1)
    node.channels = [
        FleetChannel(
            name: "air", unit: .celsius, scale: -2,
            last: .value(DecimalValue(coefficient: 2_150, exponent: -2)), utc: 9_000_000_000,
            hops: 1),
        FleetChannel(
            name: "soil", unit: .celsius, scale: -1, last: .null(.timeout), utc: 9_000_000_000,
            hops: 1),
    ]
    return node
}

func snapshot(_ nodes: [FleetNode], utc: Int64 = 10_000_000_000) -> FleetSnapshot {
    var snapshot = FleetSnapshot()
    snapshot.collector.utc = utc
    snapshot.collector.name = "barn"
    snapshot.nodes = nodes
    return snapshot
}

func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

/// `web:` as a file has it.
func webSettings(_ lines: String = "port: 8080") -> WebSettings? {
    let text = "role: collector\ntrust: any\nweb: {\(lines)}\n"
    guard case .good(let settings) = CollectorSettings.decode(Array(text.utf8), file: "test") else {
        return nil
    }
    return settings.web
}

func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

/// Goes with what is in it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/rivulet-page-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in ["r.sqlite", "r.sqlite-wal", "r.sqlite-shm"] { unlink(path + "/" + name) }
        rmdir(path)
    }
}

/// Values that change, where `#expect` wants to look at them.
final class Held<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}

extension Held<EventLog> {
    func add(_ snapshot: FleetSnapshot, now: Instant) -> Bool { value.add(snapshot, now: now) }

    /// What the reader gets next.
    func next(_ place: Held<UInt64?>) -> String? {
        value.next(after: &place.value).map { text($0) }
    }
}

extension Held<PageRouter> {
    func answer(_ request: PageRequest) -> PageAnswer { value.answer(request, now: at(0)) }
}

extension Held<LoginGuard> {
    func judge(
        _ login: PageRequest.Login?, from source: String, now: Instant
    ) -> LoginGuard.Verdict {
        value.judge(login, from: source, now: now)
    }
}
