import Glibc
import NearbyCore
import NearbyLinux
import Telemetry
import Testing

@testable import Sensors

/// With real programs.
struct CommandDriverTests {
    private func shell(
        _ script: String, limit: Duration = .seconds(20), channel: String? = "c"
    ) -> CommandDriver {
        CommandDriver(
            run: ["/bin/sh", "-c", script], timeLimit: limit, channel: channel, unit: "u")
    }

    private func sampled(_ script: String, limit: Duration = .seconds(20)) -> [String] {
        shell(script, limit: limit).sample().map(\.text)
    }

    @Test func aNumberIsTheValueOfTheChannel() {
        #expect(sampled("echo 21.50") == ["c u 21.50"])
        #expect(sampled("printf ' -3e2 '") == ["c u -300"])
        let driver = CommandDriver(
            run: ["/bin/echo", "7"], timeLimit: .seconds(20), channel: nil, unit: "1")
        #expect(driver.sample().map(\.text) == ["echo 1 7"])
        #expect(driver.name == "command echo")
        // Not `command sh`, as all of its kind would be.
        #expect(shell("echo 1").name == "command c")
    }

    /// What can have no channel is left out, and said.
    @Test func namesThatNoChannelCanHaveAreToldOf() {
        let long = String(repeating: "x", count: 70)
        let driver = shell(#"printf '{"a":1,"b\\nc":2,"\#(long)":3}'"#)
        #expect(driver.sample().map(\.text) == ["c.a u 1"])
        #expect(driver.diagnostic?.hasPrefix("left out “") == true && driver.fault == nil)
        let good = shell(#"printf '{"a":1}'"#)
        #expect(good.sample().count == 1 && good.diagnostic == nil)
    }

    /// The exit status or the signal, and the last line of standard error.
    @Test(
        arguments: [
            (
                "echo 5; echo first >&2; echo 'no bus' >&2; echo >&2; exit 3",
                "exit status 3: no bus"
            ),
            ("kill -SEGV $$", "ended by signal 11"),
            ("exit 1", "exit status 1"),
            ("printf 'a\\033b' >&2; exit 2", "exit status 2: a b"),
            ("echo warm", "it printed no number: warm"),
            ("true", "it printed nothing"),
        ] as [(String, String)])
    func whatAFailedProgramSaidIsKept(_ script: String, _ fault: String) {
        let driver = shell(script)
        _ = driver.sample()
        #expect(driver.fault == fault)
    }

    @Test func whatAProgramSaidIsForgottenWithItsFirstValue() {
        let driver = shell("echo 5; echo 'careful' >&2")
        #expect(driver.sample().map(\.text) == ["c u 5"])
        #expect(driver.fault == nil)
    }

    @Test func aProgramThatComplainsWithoutEndIsReadAllTheSame() {
        let driver = shell(
            "i=0; while [ $i -lt 40 ]; do head -c 9999 /dev/zero >&2; "
                + "i=$((i+1)); done; echo done >&2; echo 7")
        #expect(driver.sample().map(\.text) == ["c u 7"])
        // Its output is closed already.
        #expect(sampled("echo 8; exec >&-; head -c 400000 /dev/zero >&2") == ["c u 8"])
    }

    @Test func aProgramThatIsMissingOrLateSaysSo() {
        let missing = CommandDriver(
            run: ["/no/such"], timeLimit: .seconds(20), channel: "c", unit: "u")
        _ = missing.sample()
        #expect(missing.fault == "No such file or directory")
        let late = shell("echo 'asking the sensor' >&2; sleep 60", limit: .milliseconds(300))
        _ = late.sample()
        #expect(late.fault == "no end within 300 ms: asking the sensor")
    }

    @Test func argumentsAreNotTouchedByAShell() {
        let driver = CommandDriver(
            run: ["/usr/bin/printf", "%s", "{\"a;b $HOME *\":1}"], timeLimit: .seconds(20),
            channel: nil, unit: "1")
        #expect(driver.sample().map(\.text) == ["a;b $HOME * 1 1"])
    }

    @Test func failuresAreNullsWithTheirReason() {
        #expect(sampled("echo 5; exit 3") == ["c u null:command-failed"])
        #expect(sampled("kill -SEGV $$") == ["c u null:command-failed"])
        #expect(sampled("echo warm") == ["c u null:malformed"])
        #expect(sampled("true") == ["c u null:malformed"])
        #expect(sampled("printf '\\377\\376\\000'") == ["c u null:malformed"])
        #expect(sampled("echo 1 >&2") == ["c u null:malformed"])
        func run(_ path: String) -> [String] {
            CommandDriver(run: [path], timeLimit: .seconds(1), channel: "c", unit: "u")
                .sample().map(\.text)
        }
        #expect(run("/nowhere/co2") == ["c u null:absent"])
        #expect(run("/etc/passwd") == ["c u null:denied"])
        #expect(
            CommandDriver(run: [], timeLimit: .seconds(1), channel: "c", unit: "u")
                .sample().map(\.text) == ["c u null:absent"])
    }

    @Test func everyChannelOfTheLastSuccessBecomesNull() {
        let folder = TemporaryFolder()
        let file = folder.write("out", #"{"a":1,"b":2}"#)
        let driver = shell("cat \(file)", channel: nil)
        #expect(driver.sample().map(\.text) == ["a u 1", "b u 2"])
        unlink(file)
        #expect(
            driver.sample().map(\.text)
                == ["a u null:command-failed", "b u null:command-failed"])
    }

    @Test func aProgramThatHangsIsKilledAtTheTimeLimit() {
        let began = milliseconds()
        #expect(sampled("sleep 60", limit: .milliseconds(100)) == ["c u null:timeout"])
        // Its output has ended, but it has not.
        #expect(sampled("exec >&-; sleep 60") == ["c u null:command-failed"])
        #expect(milliseconds() - began < 10_000)
    }

    @Test func childrenThatItForkedAreKilledWithIt() throws {
        let folder = TemporaryFolder()
        let pids = folder.write("pids", "")
        let script = "sleep 61 & echo $! >> \(pids); sleep 61 & echo $! >> \(pids); wait"
        #expect(sampled(script, limit: .milliseconds(300)) == ["c u null:timeout"])
        try expectGone(pids, count: 2)
    }

    @Test func childrenLeftBehindDoNotKeepTheSensor() throws {
        let folder = TemporaryFolder()
        let pids = folder.write("pids", "")
        let script = "sleep 61 >/dev/null & echo $! >> \(pids); echo 5"
        let began = milliseconds()
        #expect(sampled(script) == ["c u 5"])
        #expect(milliseconds() - began < 5_000)
        try expectGone(pids, count: 1)
    }

    @Test func aProgramThatIgnoresSignalsIsKilledAllTheSame() {
        let began = milliseconds()
        let script = "trap '' TERM INT HUP; while :; do sleep 1; done"
        #expect(sampled(script, limit: .milliseconds(200)) == ["c u null:timeout"])
        #expect(milliseconds() - began < 5_000)
    }

    @Test func outputIsBounded() {
        let began = milliseconds()
        let script = "head -c 10000000 /dev/zero | tr '\\0' 1"
        #expect(sampled(script) == ["c u null:malformed"])
        #expect(sampled("cat /dev/zero") == ["c u null:malformed"])
        #expect(sampled("head -c 65000 /dev/zero | tr '\\0' ' '; echo 4") == ["c u 4"])
        #expect(milliseconds() - began < 10_000)
    }

    @Test func theEnvironmentHoldsNothingOfOurs() {
        setenv("RIVULET_TEST_SECRET", "rvs1", 1)
        #expect(sampled("env | grep -c RIVULET || true") == ["c u 0"])
        #expect(sampled("env | grep -c ^PATH=") == ["c u 1"])
    }

    @Test func noDescriptorOfOursIsInherited() {
        let folder = TemporaryFolder()
        let reader = LineReader(folder.write("kept-open", "x"))
        #expect(sampled("ls -l /proc/self/fd | grep -c kept-open || true") == ["c u 0"])
        #expect(reader != nil)
    }

    @Test func programsBesideEachOtherDoNotHoldEachOthersOutput() {
        let pool = WorkerPool()
        let slow = shell("sleep 5; echo 1")
        #expect(pool.run { _ = slow.sample() })
        let began = milliseconds()
        for _ in 0..<30 { #expect(sampled("echo 5") == ["c u 5"]) }
        #expect(milliseconds() - began < 4_000)
    }

    @Test func theProgramHearsSignalsAgain() {
        #expect(sampled("grep -c '^SigBlk:.0*$' /proc/self/status") == ["c u 1"])
    }

    @Test func nothingIsLeftBehind() throws {
        let before = descriptorCount()
        let driver = shell("exit 1")
        for _ in 0..<50 { _ = driver.sample() }
        // Other tests run beside this one: theirs come and go.
        #expect(wait(upTo: 20_000) { descriptorCount() <= before + 8 })
    }

    private func descriptorCount() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// The processes whose numbers are in the file have ended.
    private func expectGone(_ path: String, count: Int) throws {
        let text = try SensorFile.read(path, limit: 1_000).get()
        let pids = text.split(separator: "\n").compactMap { pid_t($0) }
        #expect(pids.count == count)
        for pid in pids {
            #expect(wait(upTo: 5_000) { kill(pid, 0) != 0 || isZombie(pid) }, "\(pid) lives")
        }
    }

    /// A killed orphan of which nobody has taken notice yet.
    private func isZombie(_ pid: pid_t) -> Bool {
        let text = (try? SensorFile.read("/proc/\(pid)/stat", limit: 1_000).get()) ?? " Z "
        return text.contains(") Z ") || text == " Z "
    }
}
