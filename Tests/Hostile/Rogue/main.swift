import Glibc
import NearbyCore
import NearbyLinux

// rogue ATTACK key=value…: attacks one node, for as long and as hard as it is told, and ends. For
// Tests/Hostile only; it is not shipped.

/// By name. The second half needs no secret.
let attacks: [(name: String, begin: (Options) throws -> Void)] = [
    ("join", RoutingAttacks.join),
    ("routing", RoutingAttacks.routing),
    ("collector", RoutingAttacks.collector),
    ("viewers", RoutingAttacks.viewers),
    ("clock", TelemetryAttacks.clock),
    ("readings", TelemetryAttacks.readings),
    ("evict", TelemetryAttacks.evict),
    ("births", TelemetryAttacks.births),
    ("gaps", TelemetryAttacks.gaps),
    ("series", TelemetryAttacks.series),
    ("names", NameAttacks.names),
    ("ghosts", Ghosts.attack),
    ("nudges", DiscoveryAttacks.nudges),

    ("handshakes", HandshakeAttacks.flood),
    ("refusals", HandshakeAttacks.refusals),
    ("garbage", DiscoveryAttacks.garbage),
    ("capture", DiscoveryAttacks.capture),
    ("replay", DiscoveryAttacks.replay),

    ("identity", DiscoveryAttacks.identity),
]

guard let attack = attacks.first(where: { $0.name == CommandLine.arguments.dropFirst().first })
else {
    print("usage: rogue \(attacks.map(\.name).joined(separator: "|")) key=value…")
    exit(64)
}
do {
    try attack.begin(try Options(CommandLine.arguments.dropFirst(2)))
} catch {
    say("rogue: \(error)")
    exit(1)
}
