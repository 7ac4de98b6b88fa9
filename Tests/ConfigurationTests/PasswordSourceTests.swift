import Glibc
import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct PasswordSourceTests {
    /// - Returns: what `read` says of a file with these bytes and permissions.
    private func read(_ bytes: [UInt8], permissions: UInt32 = 0o600) -> String? {
        var template = Array("/tmp/rivulet-password-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        defer { close(file) }
        let path =
            template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
        defer { unlink(path) }
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        fchmod(file, permissions)
        do throws(PasswordSource.Fault) {
            return try PasswordSource.file(path).read()
        } catch {
            #expect(!error.description.contains("hunter2"))
            return "fault: \(error)"
        }
    }

    @Test func theFirstLineIsThePassword() {
        #expect(read(Array("hunter2\n".utf8)) == "hunter2")
        #expect(read(Array(" hun ter2 \r\nmore".utf8)) == " hun ter2 ")
    }

    @Test func aFileThatOthersReadIsRefused() {
        #expect(read(Array("hunter2".utf8), permissions: 0o640)?.contains("chmod 600") == true)
    }

    @Test func whatIsNoPasswordIsSaid() {
        #expect(read([])?.contains("empty") == true)
        #expect(read([0x0a, 0x61])?.contains("empty") == true)
        #expect(read([0x61, 0, 0x62])?.contains("not UTF-8 text") == true)
        #expect(read([0xff, 0xfe])?.contains("not UTF-8 text") == true)
    }
}
