/// Texts that become parts of paths.
enum BoardText {
    /// A string of a device tree, or what somebody typed, that can be a file's name: 1–100 of
    /// letters, digits and `,.+_-`, not beginning with a dot.
    static func isFileName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: ",.+_-".utf8.contains(byte)
                }
            }
    }
}
