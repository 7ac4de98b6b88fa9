import Fleet
import NearbyCore

extension TopScreen {
    /// Whether that was the last key.
    mutating func press(_ key: TopKey) -> Bool {
        if key == .interrupt { return true }
        switch mode {
        case .help: mode = .rows
        case .filter: type(key)
        case .rows: return command(key)
        }
        return false
    }

    private mutating func type(_ key: TopKey) {
        switch key {
        case .character(let character) where filter.count < 63: filter.append(character)
        case .backspace: if filter.popLast() == nil { mode = .rows }
        case .enter: mode = .rows
        case .escape:
            filter = ""
            mode = .rows
        default: move(key)
        }
    }

    private mutating func command(_ key: TopKey) -> Bool {
        switch key {
        case .character("q"): return true
        case .character("?"), .character("h"): mode = .help
        case .character("/"): mode = .filter
        case .character("s"), .right: sort(by: 1)
        case .character("S"), .left: sort(by: -1)
        case .character("r"): place.isDescending.toggle()
        case .character(let digit) where digit.wholeNumberValue != nil: show(digit)
        case .tab: show(next: 1)
        case .enter: follow()
        case .escape, .backspace: leave()
        default: move(key)
        }
        return false
    }

    // MARK: Views

    private mutating func show(_ digit: Character) {
        guard let number = digit.wholeNumberValue, let wanted = TopView(rawValue: number - 1)
        else { return }
        (view, followed) = (wanted, nil)
    }

    private mutating func show(next step: Int) {
        let count = TopView.allCases.count
        view = TopView(rawValue: (view.rawValue + step) % count) ?? .nodes
        followed = nil
    }

    /// The node of the marked row; of a link, the farther one.
    private mutating func follow() {
        guard followed == nil, let snapshot, let selected = place.selected else { return }
        let words = selected.split(separator: " ")
        let peer: PeerID?
        switch view {
        case .nodes, .channels: peer = words.first.flatMap { PeerID(text: String($0)) }
        case .links: peer = words.last.flatMap { PeerID(text: String($0)) }
        case .outputs, .alarms, .drops: peer = nil
        }
        guard let peer, snapshot.nodes.contains(where: { $0.peer == peer }) else { return }
        (followed, followedPlace, filter) = (peer, Place(), "")
    }

    /// Back from a node; else the filter goes.
    private mutating func leave() {
        if followed != nil { followed = nil } else { filter = "" }
    }

    // MARK: Rows

    private mutating func sort(by step: Int) {
        let count = shownColumns.count
        place.column = (place.column + step + count) % count
        place.isDescending = false
    }

    private mutating func move(_ key: TopKey) {
        let page = max(lines - 5, 1)
        switch key {
        case .up, .character("k"): go(to: place.row - 1)
        case .down, .character("j"): go(to: place.row + 1)
        case .pageUp: go(to: place.row - page)
        case .pageDown, .character(" "): go(to: place.row + page)
        case .home, .character("g"): go(to: 0)
        case .end, .character("G"): go(to: .max)
        default: break
        }
    }

    /// The row at this place, whichever that is.
    private mutating func go(to row: Int) {
        place.row = max(row, 0)
        place.selected = nil
    }
}

/// What `?` shows.
enum TopHelp {
    static let lines = [
        "rivulet top: the network, live, as the collector sees it", "",
        "1-6, Tab     nodes, channels, links, outputs, alarms, drops",
        "arrows, j k  move; PgUp, PgDn, Home, End too",
        "Enter        follow the marked node: its channels, with sparklines",
        "Esc          back to the network; clear the filter",
        "s S          sort by the next column, the previous one",
        "r            reverse the order",
        "/            filter by name: letters, or a pattern such as gr*house",
        "?            this; any key goes back",
        "q, Ctrl-C    quit", "",
        "Red: silent, failing, or an active alarm.",
        "Yellow: without a value, lossy, behind.",
        "Sparklines begin when top is started.",
    ]

    /// For a terminal on which those would be cut off.
    static let short = [
        "1-6 Tab   another view",
        "arrows    move; PgUp PgDn Home End",
        "Enter     follow the marked node",
        "Esc       back; clear the filter",
        "s S r     sort; turn the order round",
        "/         filter by name",
        "?         this; any key goes back",
        "q Ctrl-C  quit",
        "Red       silent, failing, alarm",
        "Yellow    no value, lossy, behind",
    ]

    static func lines(columns: Int, lines count: Int) -> [String] {
        let fits = lines.count <= count && lines.allSatisfy { $0.count <= columns }
        return fits ? lines : short
    }
}
