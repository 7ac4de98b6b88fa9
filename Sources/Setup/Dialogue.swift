import Configuration

/// The questions of a first start, in order: what was given already is not asked. Lines in, text
/// out.
public struct Dialogue: Sendable {
    enum Question: Equatable, Sendable { case joins, network, role, name, agreement }

    public enum Outcome: Equatable, Sendable {
        /// There are more questions.
        case open
        case agreed
        case refused
        /// There is a network already: its line is needed.
        case joins
    }

    public private(set) var wish: NodeWish
    public private(set) var outcome = Outcome.open
    private var questions: [Question]

    /// - Parameter joins: whether the network is known, out of its line.
    public init(_ wish: NodeWish, joins: Bool) {
        self.wish = wish
        questions = joins || wish.network != nil ? [] : [.joins, .network]
        if wish.role == nil { questions.append(.role) }
        if wish.name == nil { questions.append(.name) }
        questions.append(.agreement)
    }

    /// What to ask now, with the answer that an empty line means in brackets.
    public var prompt: String {
        switch questions.first {
        case .joins: "Is there already a network for this machine to join? [y/N] "
        case .network: "A name for the new network, the same on all its nodes [rivulet]: "
        case .role:
            "Role: agent (reads sensors and forwards), relay (forwards only) or collector "
                + "(stores readings) [agent]: "
        case .name: "A name for this node [\(PlainText.shown(Settings.hostName))]: "
        case .agreement:
            "Make this machine the \(role.rawValue) \(PlainText.shown(name)) in network "
                + "\(wish.network ?? "rivulet")? [Y/n] "
        case nil: ""
        }
    }

    private var role: ConfiguredRole { wish.role ?? .agent }
    private var name: String { wish.name ?? Settings.hostName }

    /// Returns what is wrong with the answer; then the question stays.
    public mutating func answer(_ line: String) -> String? {
        let word = String(
            line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }
                .reversed())
        guard let question = questions.first else { return nil }
        if let complaint = apply(word, to: question) { return complaint }
        if !questions.isEmpty { questions.removeFirst() }
        return nil
    }

    private mutating func apply(_ word: String, to question: Question) -> String? {
        switch question {
        case .joins:
            guard let isYes = Self.agreement(word, orElse: false) else { return Self.yesOrNo }
            if isYes { outcome = .joins }
        case .network:
            let name = word.isEmpty ? "rivulet" : word
            guard NetworkName.isValid(name) else {
                return "1 to 15 of a–z, 0–9 and hyphen, with a letter, and hyphens only between "
                    + "others"
            }
            wish.network = name
        case .role:
            let known = [ConfiguredRole.agent, .relay, .collector]
            guard let role = word.isEmpty ? .agent : known.first(where: { $0.rawValue == word })
            else { return Suggestion.text(for: word, among: known.map(\.rawValue)) }
            wish.role = role
        case .name:
            guard word.utf8.count <= 63, PlainText.isPrintable(word) else {
                return "at most 63 bytes, without control characters"
            }
            if !word.isEmpty { wish.name = word }
        case .agreement:
            guard let isYes = Self.agreement(word, orElse: true) else { return Self.yesOrNo }
            outcome = isYes ? .agreed : .refused
        }
        return nil
    }

    private static let yesOrNo = "y for yes, n for no"

    private static func agreement(_ word: String, orElse standard: Bool) -> Bool? {
        switch word.lowercased() {
        case "": standard
        case "y", "yes": true
        case "n", "no": false
        default: nil
        }
    }
}
