import Glibc
import Testing

@testable import Configuration

struct SecretTests {
    @Test func aSecretIsReadAsItWasPrinted() {
        for seed in 0..<200 {
            let bytes = (1...16).map { UInt8(truncatingIfNeeded: $0 * (seed + 7) * 2_654_435) }
            let text = Secret.text(bytes)
            #expect(text.hasPrefix("rvs1-"))
            #expect(Secret.parse(text) == .success(bytes))
            #expect(Secret.parse(text.uppercased()) == .success(bytes))
        }
    }

    @Test func theChecksumIsTheNamedOne() {
        // CRC-16/CCITT-FALSE of "123456789" is 0x29b1 in every catalogue of CRCs.
        #expect(Secret.checksum(Array("123456789".utf8)) == 0x29b1)
    }

    @Test func everyWrongCharacterAndEveryMissingOneIsNoticed() {
        let text = Array(Sample.secret)
        for index in text.indices where index >= 5 && text[index] != "-" {
            for other in "abcdefghijklmnopqrstuvwxyz2345670189!ä" where other != text[index] {
                var changed = text
                changed[index] = other
                #expect(Secret.parse(String(changed)) == .failure(.damaged))
            }
            var shorter = text
            shorter.remove(at: index)
            #expect(Secret.parse(String(shorter)) == .failure(.damaged))
        }
        #expect(Secret.parse(Sample.secret + "a") == .failure(.damaged))
        #expect(Secret.parse("correct horse") == .failure(.notASecret))
        #expect(Secret.parse("") == .failure(.notASecret))
        #expect(Secret.parse("rvs1-") == .failure(.damaged))
    }

    @Test func neighboursSwappedAreNoticed() {
        let text = Array(Sample.secret)
        for index in text.indices.dropFirst(5).dropLast() where text[index] != text[index + 1] {
            guard text[index] != "-", text[index + 1] != "-" else { continue }
            var changed = text
            changed.swapAt(index, index + 1)
            #expect(Secret.parse(String(changed)) == .failure(.damaged))
        }
    }

    @Test func aFileMayHoldSeveralOfWhichTheFirstIsUsed() {
        let folder = TemporaryFolder()
        let path = folder.write(
            "secret", "# new\n\(Sample.otherSecret)\r\n\n# old\n  \(Sample.secret)  \n")
        #expect(Secret.load(path) == .success([Sample.otherBytes, Sample.bytes]))
    }

    @Test(arguments: [mode_t(0o640), 0o604, 0o644, 0o660, 0o620])
    func aFileThatOthersCanReadIsRefused(_ mode: mode_t) {
        let folder = TemporaryFolder()
        let path = folder.write("secret", Sample.secret, mode: mode)
        guard case .failure(let fault) = Secret.load(path) else {
            Issue.record("was read")
            return
        }
        #expect(fault.description.contains("chmod 600"))
        #expect(fault.description.contains("0" + String(mode, radix: 8)))
    }

    @Test func whatIsWrongInAFileIsNamedByItsLine() {
        let folder = TemporaryFolder()
        let wrong = folder.write("wrong", "\(Sample.secret)\nhunter2\n")
        #expect(Secret.load(wrong) == .failure(.line(2, .notASecret)))
        #expect(Secret.load(folder.write("empty", "\n# none\n")) == .failure(.empty))
        let many = String(repeating: Sample.secret + "\n", count: 9)
        #expect(Secret.load(folder.write("many", many)) == .failure(.tooMany))
        let long = String(repeating: "# \n", count: 2_000)
        guard case .failure(.unreadable) = Secret.load(folder.write("long", long)),
            case .failure(.unreadable) = Secret.load(folder.path),
            case .failure(.unreadable) = Secret.load(folder.path + "/none")
        else {
            Issue.record("was read")
            return
        }
    }

    @Test func aFIFOInItsPlaceDoesNotBlock() {
        let folder = TemporaryFolder()
        let path = folder.write("fifo", "")
        unlink(path)
        mkfifo(path, 0o600)
        #expect(Secret.load(path) == .failure(.unreadable("not a file; check the path")))
    }

    /// Another secret would be another network.
    @Test func aMissingSecretIsToBeCopied() {
        guard case .failure(let fault) = Secret.load("/nowhere/at/all") else {
            Issue.record("taken")
            return
        }
        #expect(fault.description.contains("copy the file from another node of the network"))
    }

    @Test func theSettingsTakeTheSecretFromEitherPlace() throws {
        let folder = TemporaryFolder()
        let path = folder.write("secret", Sample.secret)
        let inline = Settings.decode(Array("secret: \(Sample.secret)".utf8), file: "f")
        #expect(inline.settings?.secrets == [Sample.bytes])
        let file = Settings.decode(Array("secret-file: \(path)".utf8), file: "f")
        #expect(file.settings?.secrets == [Sample.bytes])
        #expect(file.settings?.secretFile == path)
        let both = "secret: \(Sample.secret)\nsecret-file: \(path)"
        #expect(
            Sample.texts(Settings.decode(Array(both.utf8), file: "f")) == [
                "1:9: secret and secret-file are both given; leave one out"
            ])
        #expect(
            Sample.mistakes("secret: \(Sample.secret)") == [
                "2:9: secret has no use with `trust: any`; leave one of the two out"
            ])
    }

    @Test func aMissingSecretFileSaysWhatToDo() {
        let texts = Sample.texts(
            Settings.decode(Array("secret-file: /nowhere/secret".utf8), file: "f"))
        #expect(texts.count == 1)
        #expect(texts.first?.contains("No such file or directory") == true)
        #expect(texts.first?.contains("rivulet secret") == true)
    }

    /// Wherever a secret stands in the file, right or damaged, no message repeats it.
    @Test(arguments: [
        "secret: X", "secret: [X]", "secret: {a: X}", "secret-file: X", "secret-file: /etc/X",
        "X: 1", "name: X-X-X-X", "network: X", "trust: X", "role: X", "links: {udp: {peers: [X]}}",
        "links: {udp: {port: X}}", "sensors: [{driver: X}]", "secret: X\nsecret: X",
        "report: {wait: X}", "secret: \"X", "sensors: [{driver: system, disks: [X]}]",
        "labels: {X: 1, X: 2}", "secret: XX",
    ])
    func noMessageRepeatsASecret(_ template: String) {
        let damaged = String(Sample.secret.dropLast()) + "!"
        for secret in [Sample.secret, damaged, Sample.secret.uppercased()] {
            let text = template.replacing("X", with: secret)
            let outcome = Settings.decode(Array(text.utf8), file: "f")
            let inside = secret.lowercased().dropFirst(5).prefix(11)
            for message in Sample.texts(outcome) {
                #expect(!message.lowercased().contains(inside), "\(message)")
            }
        }
        let settings = Settings.decode(Array("secret: hunter2 hunter2".utf8), file: "f")
        #expect(Sample.texts(settings).allSatisfy { !$0.contains("hunter2") })
        #expect(Sample.texts(settings).first?.contains("rivulet secret") == true)
    }

    @Test func aConfigurationThatIsNotThereSaysSo() {
        #expect(
            Sample.texts(Settings.load("/nowhere/at/all")).first?
                .hasSuffix("/at/all: No such file or directory; check the path") == true)
        #expect(
            Mistake(unreadable: Settings.standardPath, .system(ENOENT)).message
                .hasSuffix("make one with `sudo rivulet init` (new network) or `sudo rivulet join`")
        )
        #expect(Sample.texts(Settings.load("/")).first?.contains("not a file") == true)
        #expect(Sample.texts(Settings.load("/dev/zero")).first?.contains("not a file") == true)
    }
}
