import Glibc
import NearbyCore
import NearbySimulator

// simulate [readings|join|power|liar] FIRST LAST: runs the seeds, prints a line for each that
// fails, and how to replay it; closes with `N passed, N failed`. Without a word: random worlds with
// random faults; readings: the same with journals and stores; join: 200 nodes join one LAN one by
// one; power: 200 nodes start at once; liar: a member or two lie for a minute.
// simulate hash SEED: the trace hash, to be compared between processes.
let arguments = Array(CommandLine.arguments.dropFirst())
let mode = arguments.first.flatMap { UInt64($0) == nil ? $0 : nil }
let seeds = arguments.dropFirst(mode == nil ? 0 : 1).compactMap { UInt64($0) }

/// What failed with a seed.
func failures(_ seed: UInt64) -> [String] {
    switch mode {
    case "readings": ReadingsRun(seed: seed).failures
    case "join": JoinRun(seed: seed).failures
    case "power": PowerReturnsRun(seed: seed).failures
    case "liar": LiarRun(seed: seed).failures
    default: SwarmRun(seed: seed).failures
    }
}

if mode == "hash", seeds.count == 1 {
    print(
        SwarmRun(seed: seeds[0], isShort: true).traceHash,
        ReadingsRun(seed: seeds[0], isShort: true).traceHash)
} else if [nil, "readings", "join", "power", "liar"].contains(mode), seeds.count == 2,
    seeds[0] <= seeds[1]
{
    var failed = 0
    for seed in seeds[0]...seeds[1] {
        guard let failure = failures(seed).first else { continue }
        failed += 1
        let replay = [mode, "\(seed)", "\(seed)"].compactMap { $0 }.joined(separator: " ")
        print("seed \(seed): \(failure); replay: Tests/simulate.sh \(replay)")
    }
    print("\(Int(seeds[1] - seeds[0]) + 1 - failed) passed, \(failed) failed")
    exit(failed == 0 ? 0 : 1)
} else {
    print("usage: simulate [readings|join|power|liar] FIRST LAST")
    print("       simulate hash SEED")
    exit(64)
}
