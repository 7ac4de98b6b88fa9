/// A pattern that must not occur, and what to write in its place.
struct Banned: Sendable, CustomStringConvertible {
    var pattern: String
    var instead: String

    var description: String { pattern }

    static let everywhere = [
        Banned(pattern: "\\b(TODO|FIXME|XXX)\\b", instead: "do it, or file it"),
        Banned(pattern: "\\btry!", instead: "throw, or expect"),
        Banned(pattern: "\\.disabled\\(", instead: "a test that does not run is no test"),
    ]

    static let inSources = [
        Banned(pattern: "\\bimport Foundation", instead: "Glibc, or the standard library"),
        Banned(pattern: "\\bas!", instead: "as?, or a type that cannot be wrong"),
        Banned(pattern: "\\bfatalError\\(", instead: "precondition with the state in its message"),
        Banned(
            pattern: "(class|struct|enum|protocol) \\w*(Manager|Helper|Utils)\\b",
            instead: "the noun that it is"),
        // What a framework calls so is overridden under its name.
        Banned(
            pattern: "^ *((public|package|private|static|mutating) )*func get[A-Z]",
            instead: "the noun without get"),
    ]

    /// Words that no declaration in Sources uses any more, alone or within a longer name.
    static let names = [
        name("absurd", instead: "implausible"),
        name("askAt", instead: "requestAt"),
        name("askFor", instead: "request"),
        name("contest", instead: "what is contested, and its backoff"),
        name("courtesy", instead: "yieldTime"),
        name("farewell", instead: "goodbye"),
        name("gravity", instead: "severity"),
        name("peace", instead: "stable"),
        name("postponement", instead: "retryDelay"),
        name("repend", instead: "requeue"),
        name("rescuer", instead: "what it is: the nearest"),
        name("retell", instead: "announce again"),
        name("scatter", instead: "salt, jitter"),
        name("senseless", instead: "unparsed"),
        name("straggler", instead: "reordered"),
        name("unasked", instead: "unsolicited"),
        name("undead", instead: "unreaped"),
        name("upkeep", instead: "interval"),
    ]

    static let inLogic = [
        Banned(
            pattern: "ContinuousClock|SuspendingClock|\\bDate\\(\\)", instead: "now, as a parameter"
        ),
        Banned(
            pattern: "\\.random\\(in: (?![^)\\n]*using)", instead: "a seeded generator, using:"),
        Banned(
            pattern: "\\.shuffled\\(\\)|\\.randomElement\\(\\)",
            instead: "a seeded generator, using:"),
        Banned(pattern: "\\b(async|await|actor)\\b [^f]", instead: "one thread, machines"),
        Banned(pattern: "@unchecked Sendable", instead: "values, or one thread"),
        Banned(pattern: "import Glibc", instead: "time, bytes and randomness as parameters"),
    ]

    private static func name(_ word: String, instead: String) -> Banned {
        let capitalized = word.prefix(1).uppercased() + word.dropFirst()
        return Banned(
            pattern:
                "\\b(func|var|let|case|struct|enum|class|protocol|typealias) +"
                + "(\(word)|\\w*\(capitalized))s?(?![a-z])",
            instead: instead)
    }
}
