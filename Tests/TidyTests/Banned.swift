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

    static let inLogic = [
        Banned(
            pattern: "ContinuousClock|SuspendingClock|\\bDate\\(\\)", instead: "now, as a parameter"
        ),
        Banned(
            pattern: "\\.random\\(in: (?![^)]*using)", instead: "a seeded generator, using:"),
        Banned(
            pattern: "\\.shuffled\\(\\)|\\.randomElement\\(\\)",
            instead: "a seeded generator, using:"),
        Banned(pattern: "\\b(async|await|actor)\\b [^f]", instead: "one thread, machines"),
        Banned(pattern: "@unchecked Sendable", instead: "values, or one thread"),
        Banned(pattern: "import Glibc", instead: "time, bytes and randomness as parameters"),
    ]
}
