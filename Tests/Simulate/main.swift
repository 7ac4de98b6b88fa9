import FaultRuns
import Glibc
import NearbyCore
import NearbySimulator

// simulate [readings|join|power|liar] FIRST LAST: runs the seeds, prints a line for each that
// fails, and how to replay it; closes with `N passed, N failed`. Without a word: random worlds with
// random faults; readings: the same with journals and stores; join: 200 nodes join one LAN one by
// one; power: 200 nodes start at once; liar: a member or two lie for a minute.
// simulate hash SEED: the trace hash, to be compared between processes.
// simulate site SHAPE NODES [SEED [LOSS [COLLECTORS]]] [except NAME…]: a planned site, as `rivulet
// simulate` runs it, with the routes checked after every step; each promise that is not kept is one
// failed, but for those named (`paths`), which are known to be missed and only shown.
// simulate quiet SHAPE NODES …: the same, but nobody dies and no link flaps.
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

/// Runs a planned site; nil: there is none of that kind.
func site(_ words: [String]) -> SiteRun? {
    var plan = SitePlan()
    let numbers = words.dropFirst().compactMap(Int.init)
    guard let shape = words.first.flatMap(SiteShape.init), numbers.count == words.count - 1,
        let nodes = numbers.first
    else { return nil }
    plan.shape = shape
    plan.nodes = nodes
    if numbers.count > 1 { plan.seed = UInt64(clamping: numbers[1]) }
    if numbers.count > 2 { plan.lossPercent = numbers[2] }
    if numbers.count > 3 { plan.collectors = numbers[3] }
    return plan.fault == nil ? SiteRun(plan) : nil
}

let words = arguments.dropFirst().split(separator: "except", maxSplits: 1).map(Array.init)
if mode == "site" || mode == "quiet", let run = words.first.flatMap(site) {
    let excepted = words.dropFirst().first ?? []
    let report = run.run(hasDeaths: mode == "site") {
        print(SiteReport.line($0))
        fflush(nil)
    }
    for failure in report.failures { print("FAILED \(failure)") }
    let judged = report.facts.filter { $0.verdict != .none }.count
    let isKnown = { (fact: SiteReport.Fact) in excepted.contains { fact.name.hasPrefix($0) } }
    let failed = report.missed.filter { !isKnown($0) }.count + report.failures.count
    print("\(judged - report.missed.count) passed, \(failed) failed")
    exit(failed == 0 ? 0 : 1)
} else if mode == "hash", seeds.count == 1 {
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
    print("       simulate site|quiet SHAPE NODES [SEED [LOSS [COLLECTORS]]] [except NAME…]")
    exit(64)
}
