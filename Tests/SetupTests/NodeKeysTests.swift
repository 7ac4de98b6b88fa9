import Configuration
import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import Testing

@testable import Setup

/// `rivulet identity`, and what `rivulet check` says of its files. The cases of Tests/Network run
/// them with certificates.
@Suite struct NodeKeysTests {
    private func settings(_ folder: String, _ trust: String) -> Settings? {
        let text = "role: relay\nstate: \(folder)/state\ntrust: \(trust)\n"
        guard case .good(let settings) = Settings.decode(Array(text.utf8), file: "f") else {
            return nil
        }
        return settings
    }

    private func faults(_ folder: String, _ files: String) throws -> [String] {
        let settings = try #require(self.settings(folder, "{authority: \(files)}"))
        return NodeKeys(settings).faults().errors
    }

    private func write(_ text: String, to path: String) throws {
        try AtomicFile.write(Array(text.utf8), to: path, permissions: 0o600, through: SystemFiles())
    }

    private let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb3aLoXx4ksnJ6AVL
        4InutYJDTSvxQS5l+PmjHee/wSOhRANCAATFtO7mEqwc8Y/GAhGPZTU0djMunVUm
        MeH7oZE6ljOBYdnnXznPuOfJeHs0/KF6BnMqmZMVk6qdk6ABCcScMzhj
        -----END PRIVATE KEY-----
        """

    /// As the secret's file, these are looked at wherever a configuration is checked.
    @Test func theFilesOfAnAuthorityAreChecked() throws {
        try withTemporaryDirectory { folder in
            let (key, file) = (folder + "/key.pem", folder + "/a.pem")
            try write(self.key, to: key)
            try write("garbage", to: file)
            for (files, text) in [
                ("/no/a.pem", "there is no identity in \(folder)/state yet: `rivulet identity"),
                ("/no/a.pem, key: \(key)", "/no/a.pem is not there"),
                ("\(file), key: \(key)", "\(file) has no readable certificates"),
                ("\(file), key: \(file)", "\(file): no key: it has no readable private key"),
                ("\(file), key: /no/key", "/no/key: no key: there is no such file"),
            ] {
                let faults = try faults(folder, files)
                #expect(faults.count == 1, "\(files)")
                #expect(faults.first?.hasPrefix("f:3:8: trust: \(text)") == true, "\(faults)")
            }
            chmod(key, 0o640)
            let readable = try faults(folder, "\(file), key: \(key)").first
            #expect(readable?.contains("\(key): others can read") == true)
            let open = try #require(self.settings(folder, "any"))
            #expect(NodeKeys(open).faults().errors == [])
        }
    }

    @Test func aRequestMakesTheIdentityOnceAndIsShown() throws {
        try withTemporaryDirectory { folder in
            let keys = NodeKeys(try #require(settings(folder, "any")))
            #expect(throws: (any Error).self) { try keys.lines() }
            let request = try keys.request()
            #expect(request.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n"))
            let lines = try keys.lines()
            #expect(lines.count == 2 && lines[1] == "key          \(folder)/state/identity.pem")
            _ = try keys.request(as: .collector)
            #expect(try keys.lines() == lines)
            let adopted = try keys.adopt()
            #expect(lines[0] == "peer         \(adopted)")
            #expect(throws: (any Error).self) { try keys.store([]) }
        }
    }
}
