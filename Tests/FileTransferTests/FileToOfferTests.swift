import Glibc
import Testing

@testable import FileTransfer

struct FileToOfferTests {
    private let path: String

    init() throws {
        var template = Array("/tmp/rivulet-offer.XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        close(file)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func aChangeIsNoticed() throws {
        let file = try FileToOffer(path)
        #expect(file.fault == nil)
        truncate(path, 5)
        #expect(file.fault?.kind == .tryAgain)
        unlink(path)
        #expect(file.fault?.kind == .noInput)
    }

    private func fault(_ path: String) -> String? {
        do throws(TransferFault) {
            _ = try FileToOffer(path)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func onlyOrdinaryFilesAreSent() throws {
        #expect(
            fault("/tmp") == "/tmp is a folder; pack it with `tar` and send the archive")
        #expect(
            fault("/dev/zero")
                == "/dev/zero is not a regular file; save its contents to a file first")
        #expect(throws: TransferFault.self) { try FileToOffer(path + "-none") }
        // A pipe that nobody writes to is not waited for.
        mkfifo(path + "-pipe", 0o600)
        #expect(fault(path + "-pipe")?.contains("is not a regular file") == true)
        unlink(path + "-pipe")
        unlink(path)
    }
}
