import NearbyCore
import NearbySimulator

// simulate FIRST LAST: runs the seeds, prints a line for each that fails, and how to replay it;
// closes with `N passed, N failed`. simulate join FIRST LAST: the same, 200 nodes joining one LAN.
// simulate hash SEED: the trace hash, to be compared between processes.
var arguments = CommandLine.arguments.dropFirst()
let joins = arguments.first == "join"
if joins { arguments.removeFirst() }
let joinCount = arguments.count == 3 ? arguments.popLast().flatMap { Int($0) } ?? 200 : 200
if arguments.first == "hash", let seed = arguments.last.flatMap(UInt64.init) {
    print(SwarmRun(seed: seed, isShort: true).traceHash)
} else if arguments.count == 2, let first = arguments.first.flatMap(UInt64.init),
    let last = arguments.last.flatMap(UInt64.init), first <= last
{
    var failed = 0
    for seed in first...last {
        let failures =
            joins ? JoinRun(seed: seed, count: joinCount).failures : SwarmRun(seed: seed).failures
        guard let failure = failures.first else { continue }
        failed += 1
        let mode = joins ? "join " : ""
        print("seed \(seed): \(failure); replay: simulate \(mode)\(seed) \(seed)")
    }
    print("\(Int(last - first) + 1 - failed) passed, \(failed) failed")
} else {
    print("usage: simulate [join] FIRST LAST [COUNT] | simulate hash SEED")
}
