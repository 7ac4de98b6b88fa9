import COpenSSL
import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import NearbyKeys
import Testing

@testable import NearbyDTLS

@Suite struct IdentityTests {
    private let board = "10000000abcdef01"

    /// A directory with a `state` to come and a `root` whose board has that serial number.
    @discardableResult
    private func withBoard<Result>(_ body: (_ state: String, _ root: String) throws -> Result)
        throws -> Result
    {
        try withTemporaryDirectory { directory in
            try setSerial(board + "\0", under: directory + "/root")
            return try body(directory + "/state", directory + "/root")
        }
    }

    private func setSerial(_ serial: String, under root: String) throws {
        try SystemFiles().makeDirectories(root + "/proc/device-tree", permissions: 0o700)
        try write(serial, to: root + "/proc/device-tree/serial-number")
    }

    private func write(_ text: String, to path: String) throws {
        try AtomicFile.write(Array(text.utf8), to: path, permissions: 0o600, through: SystemFiles())
    }

    private func read(_ path: String) throws -> [UInt8]? {
        try AtomicFile.read(path, limit: 1 << 16, through: SystemFiles())
    }

    @Test func firstStartMakesAnIdentityThatTheSecondFinds() throws {
        try withBoard { state, root in
            let first = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            let second = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            #expect(first.peer == second.peer)
            #expect(!first.ephemeral)
            #expect(first.diagnostics == [])
            #expect(names(in: state) == ["identity.pem"])
            var status = stat()
            #expect(stat(state + "/identity.pem", &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
            let text = String(
                decoding: try #require(try read(state + "/identity.pem")), as: UTF8.self)
            #expect(text.hasPrefix("Binding: serial \(board)\n-----BEGIN PRIVATE KEY-----\n"))
        }
    }

    @Test func peerIDIsTheHashOfTheSubjectPublicKeyInfo() throws {
        let key = KeyPair.generate()
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key.privateKey, &der)
        let digest = Digest.sha256(UnsafeRawBufferPointer(start: der, count: Int(count)))
        CRYPTO_free(der, #fileID, #line)
        #expect(key.peer.bytes == Array(digest.prefix(16)))
    }

    @Test func certificateIsGoodFrom1970To9999() {
        let key = KeyPair.generate()
        var (begin, end) = (tm(), tm())
        #expect(ASN1_TIME_to_tm(X509_get0_notBefore(key.certificate), &begin) == 1)
        #expect(ASN1_TIME_to_tm(X509_get0_notAfter(key.certificate), &end) == 1)
        #expect(begin.tm_year == 70 && begin.tm_yday == 0)
        #expect(end.tm_year == 9999 - 1900 && end.tm_mon == 11 && end.tm_mday == 31)
        #expect(X509_verify(key.certificate, key.privateKey) == 1)
    }

    @Test func eachFailingCallOfTheFirstStartLeavesNoIdentityOrAWholeOne() throws {
        let calls = try callsOfAFirstStart()
        #expect(calls >= 8)
        for call in 0..<calls {
            for code in [EIO, ENOSPC, EROFS, EACCES] {
                try firstStart(under: .fail(call: call, code: code))
            }
        }
    }

    @Test func losingPowerBeforeEachCallOfTheFirstStartLeavesNoIdentityOrAWholeOne() throws {
        for call in 0...(try callsOfAFirstStart()) {
            try firstStart(under: .stop(call: call, undoesRenames: false))
            try firstStart(under: .stop(call: call, undoesRenames: true))
        }
    }

    private func callsOfAFirstStart() throws -> Int {
        try withBoard { state, root in
            let files = FailingFiles()
            _ = try NodeIdentity.load(
                stateDirectory: state, rule: .refuse, root: root, through: files)
            return files.calls
        }
    }

    /// Starts once with the fault and once without: the second start must find what is there whole.
    private func firstStart(under fault: FailingFiles.Fault) throws {
        try withBoard { state, root in
            let first = try? NodeIdentity.load(
                stateDirectory: state, rule: .makeNew, root: root, through: FailingFiles(fault))
            let stored = try read(state + "/identity.pem")
            let second = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            #expect(!second.ephemeral)
            if stored != nil, let first { #expect(first.peer == second.peer, "\(fault)") }
            if let first, !first.ephemeral, case .fail = fault {
                #expect(first.peer == second.peer || !second.diagnostics.isEmpty, "\(fault)")
            }
            let third = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            #expect(third.peer == second.peer)
        }
    }

    @Test func onAnotherBoardANewKeyIsMadeAndTheOldOneKeptAside() throws {
        try withBoard { state, root in
            let old = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            let text = try read(state + "/identity.pem")
            try setSerial("20000000abcdef02", under: root)
            let new = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            #expect(new.peer != old.peer)
            #expect(!new.ephemeral)
            #expect(new.diagnostics.count == 1)
            #expect(new.diagnostics.first?.contains("\(old.peer)") == true)
            #expect(new.diagnostics.first?.contains("\n") == false)
            let aside = "identity-\(old.peer).pem"
            #expect(names(in: state) == [aside, "identity.pem"])
            let kept = try read(state + "/" + aside)
            #expect(kept == text)
            let again = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            #expect(again.peer == new.peer)
            #expect(again.diagnostics == [])
        }
    }

    @Test func losingPowerWhileReplacingACloneLeavesAWholeIdentityOrNone() throws {
        for call in 0..<16 {
            for undoesRenames in [false, true] {
                try withBoard { state, root in
                    let old = try NodeIdentity.load(
                        stateDirectory: state, rule: .makeNew, root: root)
                    try setSerial("20000000abcdef02", under: root)
                    _ = try? NodeIdentity.load(
                        stateDirectory: state, rule: .makeNew, root: root,
                        through: FailingFiles(.stop(call: call, undoesRenames: undoesRenames)))
                    let new = try NodeIdentity.load(
                        stateDirectory: state, rule: .makeNew, root: root)
                    #expect(new.peer != old.peer)
                    let aside = try read("\(state)/identity-\(old.peer).pem")
                    #expect(aside != nil, "call \(call)")
                }
            }
        }
    }

    @Test func onAnotherBoardAKnownKeyIsRefusedUntilItIsAdopted() throws {
        try withBoard { state, root in
            let old = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            try setSerial("20000000abcdef02", under: root)
            let refusal = identityError {
                _ = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            }
            #expect(refusal?.description.contains("rivulet identity adopt") == true)
            let adopted = try NodeIdentity.adopt(stateDirectory: state, root: root)
            #expect(adopted.peer == old.peer)
            let again = try NodeIdentity.load(stateDirectory: state, rule: .refuse, root: root)
            #expect(again.peer == old.peer)
        }
    }

    @Test func adoptingNothingIsAnError() throws {
        try withBoard { state, root in
            #expect(throws: IdentityError.missing(path: state + "/identity.pem")) {
                try NodeIdentity.adopt(stateDirectory: state, root: root)
            }
        }
    }

    @Test func bindingIsTheSerialElseTheMachineIDElseNone() throws {
        try withTemporaryDirectory { root in
            let files = SystemFiles()
            #expect(BoardBinding(root: root, through: files) == .none)
            try files.makeDirectories(root + "/etc", permissions: 0o700)
            try write("0123456789abcdef\n", to: root + "/etc/machine-id")
            #expect(BoardBinding(root: root, through: files) == .machineID("0123456789abcdef"))
            try setSerial("0000000000000000\0", under: root)
            #expect(BoardBinding(root: root, through: files) == .machineID("0123456789abcdef"))
            try setSerial("1000\0", under: root)
            #expect(BoardBinding(root: root, through: files) == .serial("1000"))
        }
    }

    @Test func unwritableStateDirectoryGivesAnEphemeralIdentityAndSaysSo() throws {
        let identity = try NodeIdentity.load(stateDirectory: "/proc/no-such-place", rule: .refuse)
        #expect(identity.ephemeral)
        #expect(identity.diagnostics.count == 1)
        #expect(identity.diagnostics.first?.contains("/proc/no-such-place") == true)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o620])
    func aKeyThatOthersCanReadIsRefusedWithWhatToDo(permissions: Int) throws {
        try withBoard { state, root in
            let made = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            let path = state + "/identity.pem"
            #expect(chmod(path, mode_t(permissions)) == 0)
            let expected = IdentityError.open(path: path, permissions: UInt32(permissions))
            #expect(
                identityError {
                    _ = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
                } == expected)
            #expect(
                identityError { _ = try NodeIdentity.adopt(stateDirectory: state, root: root) }
                    == expected)
            #expect(expected.description.contains("chmod 600"))
            #expect(!expected.description.contains("\n"))
            #expect(chmod(path, 0o600) == 0)
            let again = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            #expect(again.peer == made.peer)
        }
    }

    @Test func damagedFileIsNamedWithWhatToDo() throws {
        try withBoard { state, root in
            _ = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
            let path = state + "/identity.pem"
            let whole = try #require(try read(path))
            for count in stride(from: 0, to: whole.count - 30, by: 13) {
                try write(String(decoding: whole.prefix(count), as: UTF8.self), to: path)
                let error = identityError {
                    _ = try NodeIdentity.load(stateDirectory: state, rule: .makeNew, root: root)
                }
                #expect(error?.description.contains(path) == true)
                #expect(error?.description.contains("move the file away") == true)
            }
            let kept = try read(path)
            #expect(kept != nil, "a damaged file is never overwritten")
        }
    }

    @Test func keyOfAnotherKindOrOfSomebodyElseIsDamage() throws {
        let (mine, other) = (KeyPair.generate(), KeyPair.generate())
        let (start, end) = ("-----BEGIN CERTIFICATE", mine.pem())
        let pieces = [end, other.pem()].map { text in
            let text = String(decoding: text, as: UTF8.self)
            let cut = text.index(
                text.startIndex, offsetBy: text.count - certificatePart(text, start).count)
            return (key: text[..<cut], certificate: text[cut...])
        }
        #expect(throws: KeyPairError.mismatch) {
            try KeyPair.parse(pem: Array((pieces[0].key + pieces[1].certificate).utf8))
        }
        #expect(throws: KeyPairError.noCertificate) {
            try KeyPair.parse(pem: Array(pieces[0].key.utf8))
        }
        #expect(throws: KeyPairError.noPrivateKey) {
            try KeyPair.parse(pem: Array(pieces[0].certificate.utf8))
        }
        let wide = try #require(KeyPair.selfSigned(shim_EVP_EC_gen("P-384")))
        #expect(throws: KeyPairError.notP256) { try KeyPair.parse(pem: wide.pem()) }
    }

    private func certificatePart(_ text: String, _ start: String) -> Substring {
        var rest = text[...]
        while !rest.isEmpty, !rest.hasPrefix(start) { rest.removeFirst() }
        return rest
    }
}

/// The error that the body throws; nil, which no test accepts, if it throws another or none.
private func identityError(_ body: () throws -> Void) -> IdentityError? {
    do {
        try body()
        return nil
    } catch {
        return error as? IdentityError
    }
}
