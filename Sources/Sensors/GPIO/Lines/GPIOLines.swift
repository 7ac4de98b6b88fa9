/// The lines of this machine, looked at without asking for one.
public enum GPIOLines {
    /// Why there is no such line here, and which there are; nil if it was found.
    public static func fault(of line: LineName, header: @escaping HeaderPins) -> String? {
        let search = LineSearch(chips: GPIOChips(in: "/dev"), header: header)
        if case .failure(let fault) = search.find(line) { return fault.text }
        return nil
    }
}
