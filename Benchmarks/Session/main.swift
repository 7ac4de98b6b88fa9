import Glibc
import Nearby
import NearbyCore
import NearbyLinux

// session-bench WHAT TYPE …: two programs with a session of the service TYPE, on one machine, whose
// clock they share.
//
//     serve TYPE NAME           accepts everybody; stores resources nowhere, measures streams
//     relay TYPE                is there, so that others reach each other over it
//     resource TYPE NAME FILE   sends FILE: prints MB/s until the other side has compared its hash
//     stream TYPE NAME          stamps on a stream, one a millisecond; `serve` prints p50, p99, µs
//     beside TYPE NAME FILE     readings of 100 bytes, one a millisecond, alone and beside FILE,
//                               which is large: `serve` prints p50, p99, µs, and how many came
//     invite TYPE NAME          milliseconds from the invitation to connected
//     crowd TYPE NAME COUNT     so many peers that connect with NAME and stay

let arguments = CommandLine.arguments
guard arguments.count > 2 else {
    print("session-bench serve|relay|resource|stream|beside|invite|crowd TYPE …")
    exit(64)
}
let service = try Service(arguments[2])
let rest = Array(arguments.dropFirst(3))

switch arguments[1] {
case "serve": try await Server(named: rest[0], service).run()
case "relay":
    let peer = try Peer(displayName: "relay")
    let session = try Session(peer: peer)
    let browser = try Browser(peer: peer, service: service)
    try browser.start()
    for await _ in browser.events {}
    session.disconnect()
case "resource":
    let client = try await Client(service, to: rest[0])
    let file = rest[1]
    let began = MonotonicClock.now()
    let resource = try client.session.sendResource(file: file, named: "data", to: client.server)
    try await resource.finished()
    let time = (MonotonicClock.now() - began) / .microseconds(1)
    print(Int(Double(resource.current.total) / time))
case "stream":
    let client = try await Client(service, to: rest[0])
    let stream = try client.session.openStream(named: "stamps", to: client.server)
    for _ in 0..<1_000 {
        try await stream.write(Stamp.bytes(MonotonicClock.now()))
        usleep(1_000)
    }
    stream.finish()
    try await Task.sleep(for: .milliseconds(500))
case "beside":
    let client = try await Client(service, to: rest[0])
    try await sendReadings(phase: 0, client)
    let resource = try client.session.sendResource(
        file: rest[1], named: "data", to: client.server)
    // Beyond its slow start.
    while resource.current.completed < 20_000_000 { try await Task.sleep(for: .milliseconds(5)) }
    let (began, before) = (MonotonicClock.now(), resource.current.completed)
    try await sendReadings(phase: 1, client)
    let time = (MonotonicClock.now() - began) / .microseconds(1)
    print(Int(Double(resource.current.completed - before) / time))
    resource.cancel()
case "invite":
    let client = try await Client(service, to: rest[0])
    print(Int(client.connectTime / .microseconds(100)) / 10)
case "crowd": try await crowd(count: Int(rest[1]) ?? 100)
default:
    print("session-bench has no \(arguments[1])")
    exit(64)
}

/// Two thousand, and a word that they have ended.
func sendReadings(phase: UInt8, _ client: Client) async throws {
    let padding = [UInt8](repeating: 0, count: 100 - 1 - Stamp.byteCount)
    for _ in 0..<2_000 {
        let reading = [phase] + Stamp.bytes(MonotonicClock.now()) + padding
        try await client.session.send(reading, to: [client.server], mode: .unreliable)
        usleep(1_000)
    }
    try await Task.sleep(for: .milliseconds(300))
    try await client.session.send([phase], to: [client.server])
    try await Task.sleep(for: .milliseconds(300))
}

/// They stay until the process is ended.
func crowd(count: Int) async throws {
    var clients: [Client] = []
    let began = MonotonicClock.now()
    for number in 1...max(1, count) {
        clients.append(try await Client(service, to: rest[0]))
        guard number % 10 == 0, let last = clients.last else { continue }
        let time = Int((MonotonicClock.now() - began) / .seconds(1))
        let connecting = Int(last.connectTime / .milliseconds(1))
        print("\(number) after \(time) s, the last of them in \(connecting) ms")
        fflush(nil)
    }
    print("connected \(clients.count)")
    fflush(nil)
    try await Task.sleep(for: .seconds(600))
    withExtendedLifetime(clients) {}
}

exit(0)
