import NearbyCore

/// How the list looks: a line each for the title, the peers, what is going on, the keys.
extension PeerList {
    /// As many lines as the screen has, none wider than it is.
    func lines(columns: Int, rows count: Int) -> [String] {
        let room = max(count - 5, 1)
        let first = max(min(chosen - room / 2, rows.count - room), 0)
        let shown = rows.enumerated().dropFirst(first).prefix(room)
        var lines = [" \(title): who is nearby", ""]
        lines += shown.map { line(of: $1, isChosen: $0 == chosen, columns: columns) }
        if rows.isEmpty { lines.append("   Looking for others …") }
        while lines.count < count - 2 { lines.append("") }
        lines += question.map { [" \($0)", " y Accept   n Decline"] } ?? [summary, keys]
        return lines.map { cut($0, to: columns) }
    }

    private var summary: String {
        " \(connectedCount + 1) of \(maximumNumberOfPeers) in the session, "
            + (canFinish ? "enough of them" : "\(minimumNumberOfPeers) are needed")
    }

    private var keys: String {
        " ↑ ↓ Choose   Enter Invite   \(canFinish ? "d Done   " : "")c Cancel"
    }

    private func line(of row: Row, isChosen: Bool, columns: Int) -> String {
        let word =
            switch row.standing {
            case .found: ""
            case .invited: "invited"
            case .connecting: "connecting"
            case .connected: "connected"
            case .declined: "not connected"
            }
        let widest = max(columns - 20, 8)
        let name = cut(row.peer.displayName.printable, to: widest)
        let gap = String(repeating: " ", count: max(widest - width(of: name), 0) + 1)
        return " \(isChosen ? "▸" : " ") \(name)\(gap)\(word)"
    }

    private func cut(_ line: String, to columns: Int) -> String {
        guard width(of: line) > columns else { return line }
        var result = ""
        var taken = 0
        for character in line {
            let next = width(of: String(character))
            guard taken + next < columns else { break }
            result.append(character)
            taken += next
        }
        return result + "…"
    }

    private func width(of text: String) -> Int { TextWidth.columns(text) }
}

extension String {
    /// Without what a name from outside must not do to the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
