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

    @Test func onlyOrdinaryFilesAreSent() throws {
        #expect(throws: TransferFault.self) { try FileToOffer("/tmp") }
        #expect(throws: TransferFault.self) { try FileToOffer("/dev/zero") }
        #expect(throws: TransferFault.self) { try FileToOffer(path + "-none") }
        // A pipe that nobody writes to is not waited for.
        mkfifo(path + "-pipe", 0o600)
        #expect(throws: TransferFault.self) { try FileToOffer(path + "-pipe") }
        unlink(path + "-pipe")
        unlink(path)
    }
}
