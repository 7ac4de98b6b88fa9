import Glibc

/// Names and addresses of machines.
public enum HostName {
    /// Letters, digits, hyphens and points (RFC 1123 §2.1); at most 253 bytes.
    public static func isValid(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { part in
                (1...63).contains(part.count) && part.first != UInt8(ascii: "-")
                    && part.last != UInt8(ascii: "-")
                    && part.allSatisfy {
                        (48...57).contains($0) || (97...122).contains($0 | 0x20)
                            || $0 == UInt8(ascii: "-")
                    }
            }
    }

    /// Whether an address leads to this machine alone; nil if it is none.
    public static func isLoopback(_ address: String) -> Bool? {
        var four = in_addr()
        if inet_pton(AF_INET, address, &four) == 1 {
            return UInt32(bigEndian: four.s_addr) >> 24 == 127
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, address, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        return bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
