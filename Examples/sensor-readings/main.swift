// Sends what this machine says of itself to the collectors of a Rivulet network: load and free
// memory, once a second. `example-sensor-readings NAME NETWORK SECRET-FILE [SECONDS]`.
import Glibc
import Nearby
import NearbyReadings

/// Tells where the readings go.
func follow(_ reporter: Reporter) async {
    for await event in reporter.events {
        switch event {
        case .collector(let peer?): print("readings go to \(peer)")
        case .collector(nil): print("no collector: readings wait")
        case .viewers(let peers): print("looking in: \(peers.map(\.displayName))")
        case .failed(let error): print("not started: \(error)")
        }
    }
}

let arguments = CommandLine.arguments
guard (4...5).contains(arguments.count) else {
    print("usage: example-sensor-readings NAME NETWORK SECRET-FILE [SECONDS]")
    exit(2)
}
do {
    let reporter = try Reporter(
        peer: Peer(displayName: arguments[1], keptIn: Machine.home + "/.sensor-readings-peer"),
        network: Service(network: arguments[2], secretFile: arguments[3]),
        labels: ["kind": "example"])
    Task { await follow(reporter) }
    try await reporter.start()
    print("I am \(arguments[1]) of \(arguments[2]).")
    let seconds = arguments.count > 4 ? Int(arguments[4]) ?? 0 : .max
    for _ in 0..<seconds {
        try await reporter.report(Machine.load, as: "load")
        try await reporter.report(Machine.freeMegabytes, unit: "MB", as: "memory.free")
        try await Task.sleep(for: .seconds(1))
    }
    await reporter.finish()
    print("sent; \(await reporter.waitingCount) readings were not stored")
} catch {
    print("no: \(error)")
    exit(1)
}
