import Configuration
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyLinux
import NodeShell

// crowd CONFIG AGENTS CHANNELS MILLISECONDS SECONDS [AGENTS-A-SECOND]: so many agents in one
// process, each a whole `Agent` with a key and sockets of its own, which reads so many channels
// each so many milliseconds; after so many seconds (0: at SIGTERM) it ends. They start all at once,
// or so many a second. At most 250 share a process; start several for more. The file is that of an
// agent: network, secret and `links: udp: peers` count. Prints how many are connected when that
// changes, and in the end what the agents measured and what no receipt has settled.

// With CROWD_STOPS in the environment it stops itself before it begins, for SIGCONT.
// `crowd handshakes COUNT` prints what one handshake costs both sides, in nanoseconds.

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "handshakes",
    let count = Int(CommandLine.arguments[2]), count > 0
{
    guard let cost = handshakeCost(count: count) else {
        print("a handshake between two nodes in one process has failed")
        exit(1)
    }
    print(cost.nanoseconds)
    exit(0)
}
let arguments = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
guard CommandLine.arguments.count == arguments.count + 2, [4, 5].contains(arguments.count),
    (1...250).contains(arguments[0]), arguments.count == 4 || arguments[4] > 0,
    case .good(let settings) = Settings.load(CommandLine.arguments[1])
else {
    print("usage: crowd CONFIG AGENTS CHANNELS MILLISECONDS SECONDS [AGENTS-A-SECOND]")
    exit(64)
}
// Three sockets an agent.
var limit = rlimit()
getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
limit.rlim_cur = limit.rlim_max
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
do {
    let crowd = try Crowd(
        settings, count: arguments[0], channelCount: arguments[1],
        period: .milliseconds(arguments[2]),
        perSecond: arguments.count == 5 ? arguments[4] : 1_000_000)
    // Several processes that are to begin at the same moment wait for SIGCONT.
    if getenv("CROWD_STOPS") != nil { raise(SIGSTOP) }
    try crowd.run(for: arguments[3] > 0 ? .seconds(arguments[3]) : nil)
} catch {
    print(error)
    exit(1)
}
