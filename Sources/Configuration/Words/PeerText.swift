import Glibc

/// The form of `10.0.0.5:4577`, `[fd00::5]:4577`, `[fe80::1%eth0]:4577`, checked where its line and
/// column are known. The network side reads the text itself.
enum PeerText {
    static func isValid(_ text: String) -> Bool {
        guard let colon = text.lastIndex(of: ":"),
            let port = Quantity.integer(String(text[text.index(after: colon)...])),
            (1...65_535).contains(port)
        else { return false }
        let host = text[..<colon]
        guard host.first == "[", host.last == "]" else {
            var address = in_addr()
            return inet_pton(AF_INET, String(host), &address) == 1
        }
        let parts = host.dropFirst().dropLast().split(
            separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var address = in6_addr()
        guard let first = parts.first, inet_pton(AF_INET6, String(first), &address) == 1 else {
            return false
        }
        if parts.count == 2 { return isInterface(String(parts[1])) }
        // A link-local address is ambiguous without its interface.
        let bytes = withUnsafeBytes(of: address) { Array($0.prefix(2)) }
        return !(bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80)
    }

    /// What kind of address it is, if it is not one node's; `text` is valid.
    static func foreignKind(_ text: String) -> String? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        guard host.first == "[" else {
            var address = in_addr()
            guard inet_pton(AF_INET, String(host), &address) == 1 else { return nil }
            let bytes = withUnsafeBytes(of: address) { Array($0) }
            if bytes[0] == 0 { return "which is no node's address" }
            if bytes.allSatisfy({ $0 == 255 }) { return "the broadcast address" }
            return bytes[0] >= 224 ? "a multicast or reserved address" : nil
        }
        let plain = host.dropFirst().dropLast().prefix { $0 != "%" }
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(plain), &address) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        if bytes[0] == 0xff { return "a multicast address" }
        return bytes.allSatisfy { $0 == 0 } ? "which is no node's address" : nil
    }

    /// The kernel's rule (`dev_valid_name`): 1–15 bytes, no slash, colon or white space, not `.` or
    /// `..`.
    static func isInterface(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != 0x2f && $0 != 0x3a }
    }
}
