import NearbyCore
import Testing

struct Base32Tests {
    /// RFC 4648 §10, in lower case and without padding.
    @Test func theVectorsOfTheStandard() {
        let vectors = [
            ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"),
            ("fooba", "mzxw6ytb"), ("foobar", "mzxw6ytboi"),
        ]
        for (plain, text) in vectors {
            #expect(Base32.text(plain.utf8) == text)
            #expect(Base32.bytes(text) == Array(plain.utf8))
            #expect(Base32.bytes(text.uppercased()) == Array(plain.utf8))
        }
    }

    @Test func whatNoBytesHaveIsRefused() {
        // One, three or six digits; bits left over; another alphabet.
        for text in ["m", "mzx", "mzxw6y", "mz", "mzxr", "mzxw1", "mzxw0", "my=", "é"] {
            #expect(Base32.bytes(text) == nil, "\(text)")
        }
    }
}
