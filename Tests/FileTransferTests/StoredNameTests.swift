import Testing

@testable import FileTransfer

struct StoredNameTests {
    @Test(arguments: [
        ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("/etc/shadow", "shadow"),
        ("C:\\Windows\\system.ini", "system.ini"), ("a/", "a"), ("..", "_."), (".", "_"),
        ("", "file"), ("///", "file"), (".bashrc", "_bashrc"), ("-rf", "_rf"),
        // With a mark behind it a sign is another character, and the same byte in the file's name.
        (".\u{301}x", "_\u{301}x"), ("-\u{301}x", "_\u{301}x"), ("a/\u{301}/b/c", "c"),
        ("a\u{1b}[2Jb\nc", "a_[2Jb_c"), ("gpj.\u{202e}exe", "gpj._exe"), ("a\0b", "a_b"),
        ("  \u{a0} ", "_"), ("räksmörgås 2.txt", "räksmörgås 2.txt"), ("日本.txt", "日本.txt"),
    ])
    func leavesTheFolderNever(_ offered: String, _ stored: String) {
        #expect(StoredName(offered: offered).description == stored)
    }

    @Test func aTakenNameIsNumberedBeforeItsEnding() {
        #expect(StoredName(offered: "a.tar").numbered(2).description == "a (2).tar")
        #expect(StoredName(offered: "notes").numbered(12).description == "notes (12)")
        let long = "x.this ending is none"
        #expect(StoredName(offered: long).numbered(3).description == long + " (3)")
    }

    @Test func aLongNameKeepsItsEndingAndFits() {
        let name = StoredName(offered: String(repeating: "ä", count: 200) + ".jpeg")
        #expect(name.description.utf8.count <= 255)
        #expect(name.description.hasSuffix("ä.jpeg"))
        #expect(name.numbered(999).description.utf8.count <= 255)
        #expect(name.numbered(999).description.hasSuffix("ä (999).jpeg"))
    }

    @Test func everySingleScalarIsHarmless() {
        for value in UInt32(0)...0x2fff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let name = StoredName(offered: "a" + String(Character(scalar))).description
            #expect(!name.contains("/") && !name.isEmpty)
            #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
        }
    }
}
