import Glibc
import Testing

@testable import Configuration

/// What is wrong with settings alone, and what is allowed but hardly meant.
struct AdviceTests {
    private func warnings(_ lines: String) -> [String] {
        Sample.decode(lines).settings?.warnings.map { String($0.description.dropFirst(2)) }
            ?? ["refused: \(Sample.mistakes(lines))"]
    }

    private static let sensor = "sensors: [{driver: system}]\n"

    // MARK: Mistakes

    @Test(arguments: [
        ("224.0.0.251:5353", "a multicast or reserved address"),
        ("255.255.255.255:4577", "the broadcast address"),
        ("0.0.0.0:4577", "which is no node's address"),
        ("[ff02::1%eth0]:4577", "a multicast address"),
        ("[::]:4577", "which is no node's address"),
    ])
    func aPeerIsOneNode(_ peer: String, _ kind: String) {
        #expect(
            Sample.mistakes("links: {udp: {peers: [\"\(peer)\"]}}") == [
                "2:23: peers has '\(peer)', \(kind); it must be the address of one node"
            ])
    }

    @Test(arguments: ["127.0.0.1:4577", "10.0.0.5:4577", "[fe80::1%eth0]:4577", "[fd00::5]:1"])
    func unicastPeersAreTaken(_ peer: String) {
        #expect(Sample.mistakes("links: {udp: {peers: [\"\(peer)\"]}}") == [])
    }

    @Test func somethingMustBeOn() {
        #expect(
            Sample.mistakes("links: {udp: off, bluetooth: off}") == [
                "2:8: udp and bluetooth are both off: nobody could be reached; leave one on"
            ])
        #expect(Sample.mistakes("links: {udp: off}") == [])
    }

    @Test(arguments: ["state", "control"])
    func theTildeIsExplained(_ key: String) {
        #expect(
            Sample.mistakes("\(key): ~/rivulet/x") == [
                "2:\(key.count + 3): \(key) is '~/rivulet/x'; ~ stands for a home folder in a "
                    + "shell only; write the full path, such as /home/pi/rivulet/x"
            ])
    }

    @Test func variablesOfAShellAreExplained() {
        #expect(
            Sample.mistakes("state: $HOME/rivulet") == [
                "2:8: state is '$HOME/rivulet'; $HOME is replaced in a shell only; write the full "
                    + "path, such as /home/pi/rivulet"
            ])
    }

    @Test func theTildeOfASecretFileIsToldOnce() {
        let outcome = Settings.decode(Array("secret-file: ~/secret".utf8), file: "f")
        #expect(Sample.texts(outcome).count == 1)
        #expect(Sample.texts(outcome).first?.contains("~ stands for") == true)
    }

    @Test(arguments: [
        ("(\\d+) C", "has \\d, which this dialect lacks; write [0-9]"),
        ("([\\d.]+)", "has \\d in brackets"),
        ("t=(.*?),", "lazy or possessive quantifier, *?,"),
        ("t=([0-9]+?)", "lazy or possessive quantifier, +?,"),
        ("t=([0-9]{1,3}?)", "lazy or possessive quantifier, }?,"),
        ("(?:a|b)([0-9])", "has (?, which this dialect lacks"),
        ("a\\tb([0-9])", "has \\t, which is a plain t here; write [[:blank:]]"),
        ("a\\xb([0-9])", "has \\x, which is a plain x here"),
    ])
    func whatTheDialectLacksIsTold(_ pattern: String, _ advice: String) throws {
        let fault = try #require(PatternAdvice.fault(pattern))
        #expect(fault.contains(advice), "\(fault)")
    }

    @Test(arguments: [
        "^T=(-?[0-9]+\\.[0-9]*)$", "([[:digit:]]+)", "\\w+\\s([^]?]+)?", "a\\*?([0-9])", "[*?]?(a)",
        "(a?)(b+)", "\\\\d(1)", "[]*?](x)", "[[:alpha:]?](x)",
    ])
    func whatTheDialectHasIsTaken(_ pattern: String) {
        #expect(PatternAdvice.fault(pattern) == nil)
    }

    @Test func patternAdviceComesWithThePlace() {
        let text = """
            sensors:
              - {driver: serial, device: /dev/x, protocol: line, pattern: '(\\d+)', groups: [a]}
            """
        #expect(
            Sample.mistakes(text) == [
                "3:63: pattern has \\d, which this dialect lacks; write [0-9]"
            ])
    }

    @Test(arguments: [
        ("name: \"no\u{200b}rth\"", "name has an invisible character, U+200B, as its character 3"),
        ("name: \"north\u{a0}\"", "name has an invisible character, U+00A0, as its character 6"),
        ("labels: {\"ro\u{ad}om\": x}", "the name of a label has an invisible character, U+00AD"),
        (
            "sensors: [{driver: command, run: [/bin/echo], name: \"\u{feff}t\"}]",
            "name has an invisible character, U+FEFF, as its character 1"
        ),
        (
            "sensors: [{driver: system, channels: {\"load.1m\u{200d}\": {leave-out: true}}}]",
            "a name in channels has an invisible character, U+200D"
        ),
    ])
    func invisibleCharactersAreTold(_ text: String, _ advice: String) {
        let mistakes = Sample.mistakes(text)
        #expect(mistakes.first?.contains(advice) == true, "\(mistakes)")
    }

    @Test func aNameDoesNotBeginOrEndWithASpace() {
        #expect(
            Sample.mistakes("name: \"north \"") == [
                "2:7: name begins or ends with a space; remove it"
            ])
        #expect(Sample.mistakes("name: Gewächshaus ☀ 北") == [])
    }

    // MARK: Warnings

    @Test func anAgentWithoutSensorsIsAskedAbout() {
        #expect(warnings("role: agent").count == 1)
        #expect(warnings("role: agent").first?.contains("measures nothing") == true)
        #expect(warnings("role: relay") == [])
        #expect(warnings(Self.sensor) == [])
    }

    @Test func aRelativePathIsToldWithWhatItMeans() throws {
        let folder = try #require(getcwd(nil, 0))
        defer { free(folder) }
        let warnings = warnings(Self.sensor + "state: data")
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasPrefix(
                "3:8: state is 'data', relative to the folder in which the program is started")
                == true)
        #expect(warnings.first?.contains(String(cString: folder).prefix(20)) == true)
        #expect(self.warnings(Self.sensor + "state: /data") == [])
        let store = "role: collector\ncollector: {store: "
        #expect(self.warnings(store + "off}") == [])
        #expect(self.warnings(store + "offline}").count == 1)
    }

    @Test(arguments: [
        ("C", "unit is C, which is coulomb; for degrees Celsius write Cel"),
        ("F", "unit is F, which is farad; for degrees Fahrenheit write [degF]"),
        ("celsius", "unit is celsius; write Cel, as others do"),
        ("percent", "unit is percent; write %, as others do"),
        ("hpa", "unit is hpa; write hPa, as others do"),
    ])
    func unitsThatLookLikeKnownOnesAreTold(_ unit: String, _ remark: String) {
        let text = "sensors: [{driver: command, run: [/bin/echo], name: x, unit: \(unit)}]"
        #expect(warnings(text).map { String($0.drop { $0 != " " }.dropFirst()) } == [remark])
    }

    @Test(arguments: ["Cel", "%RH", "hPa", "km/h", "[degF]", "ppm", "furlong", "1", "min"])
    func unitsThatAreKnownOrUnlikeAnyAreNot(_ unit: String) {
        let text = "sensors: [{driver: command, run: [/bin/echo], name: x, unit: \"\(unit)\"}]"
        #expect(warnings(text) == [])
    }

    // MARK: Files

    @Test func aPipeOrADeviceIsRefusedInsteadOfWaitedFor() {
        let files = TemporaryFolder()
        let pipe = files.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        for path in [pipe, "/dev/zero", files.path] {
            #expect(throws: SmallFile.Fault.notAFile) { try SmallFile.read(path, limit: 10) }
            guard case .bad(let mistakes) = Settings.load(path) else {
                Issue.record("\(path) was taken")
                continue
            }
            #expect(mistakes.first?.message.contains("not a file") == true)
            #expect(mistakes.first?.systemCode != 0)
        }
    }

    @Test func aFileThatIsMissingIsNoMistakeInAConfiguration() {
        guard case .bad(let mistakes) = Settings.load("/no/such/file") else {
            Issue.record("it was taken")
            return
        }
        #expect(mistakes.map(\.systemCode) == [ENOENT])
    }
}
