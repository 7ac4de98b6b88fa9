import NearbyCore
import NearbySimulator

// simulate FIRST LAST: runs the seeds, prints a line for each that fails, and how to replay it;
// closes with `N passed, N failed`. simulate hash SEED: the trace hash, to be compared between
// processes.
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "hash", let seed = arguments.last.flatMap(UInt64.init) {
    print(SwarmRun(seed: seed, isShort: true).traceHash)
} else if arguments.count == 2, let first = arguments.first.flatMap(UInt64.init),
    let last = arguments.last.flatMap(UInt64.init), first <= last
{
    var failed = 0
    for seed in first...last {
        let run = SwarmRun(seed: seed)
        guard !run.failures.isEmpty else { continue }
        failed += 1
        print(
            "seed \(seed), \(run.hostCount) hosts: \(run.failures[0]); "
                + "replay: simulate \(seed) \(seed)"
        )
    }
    print("\(Int(last - first) + 1 - failed) passed, \(failed) failed")
} else {
    print("usage: simulate FIRST LAST | simulate hash SEED")
}
