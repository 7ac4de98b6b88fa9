extension String {
    /// The folder that a path's last part lies in: all before the last slash, `/` for `/a`; nil
    /// where there is no slash.
    ///
    /// By bytes, as the kernel reads it: to Swift a slash with a combining mark behind it is
    /// another character.
    @inline(never)
    public var pathFolder: String? {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == startIndex ? "/" : String(decoding: utf8[..<slash], as: UTF8.self)
    }

    /// A path's last part, by bytes too; nil where there are slashes only.
    @inline(never)
    public var lastPathPart: String? {
        utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    }
}
