import Testing

@testable import Nearby

/// Names that others give their files, and what a file system makes of them.
struct PlainFileNameTests {
    @Test(arguments: [
        ("photo.jpg", "photo.jpg"), ("holiday/photo.jpg", "photo.jpg"), ("C:\\a.jpg", "a.jpg"),
        ("holiday/", "holiday"), ("../../..", "resource"), (".", "resource"), ("/", "resource"),
        ("", "resource"), ("a\u{0}b\r\n\u{7f}", "ab"), (".\u{0}.", "resource"), ("a/\r\nb", "b"),
    ]) func onlyTheLastPartIsLeft(_ name: String, _ plain: String) {
        #expect(Array(plainFileName(name).utf8) == Array(plain.utf8))
    }

    /// An accent, a joiner, a variation selector, a key cap, a skin colour, a tag.
    @Test(arguments: ["\u{301}", "\u{200d}", "\u{fe0f}", "\u{20e3}", "\u{1f3fb}", "\u{e0020}"])
    func noMarkHidesASlash(_ mark: String) {
        for slash in ["/", "\\"] {
            let plain = plainFileName("..\(slash)\(mark)x")
            #expect(Array(plain.utf8) == Array("\(mark)x".utf8))
        }
    }
}
