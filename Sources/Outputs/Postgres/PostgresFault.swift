/// What PostgreSQL's answers mean for an output.
public enum PostgresFault {
    /// - Parameters:
    ///   - state: the five characters of SQLSTATE; nil: the library's own words.
    ///   - message: what was said; several lines.
    ///   - place: "the database rivulet on 10.0.0.2:5432".
    public static func fault(state: String?, message: String, place: String) -> OutputFault {
        // It names another file each time, and would be told each time.
        let said = state == "53100" ? "No space left on device" : printable(message)
        let (kind, advice) = meaning(of: state ?? "") ?? meaning(ofWords: said)
        return OutputFault(kind, "\(place): \(said)" + (advice.isEmpty ? "" : "; \(advice)"))
    }

    /// A schema that a newer program made.
    public static func newer(_ version: Int, place: String) -> OutputFault {
        OutputFault(
            .unsuitable,
            "\(place): its tables are of version \(version), and this program knows version "
                + "\(PostgresSchema.version) at most; install a newer rivulet here, or name "
                + "another schema")
    }

    public static func encoding(_ name: String, place: String) -> OutputFault {
        OutputFault(
            .unsuitable,
            "\(place): it is encoded in \(name), which has no room for all names; make one with "
                + "`createdb --encoding=UTF8 --template=template0`")
    }

    /// First whole codes, then their classes (PostgreSQL's manual, appendix A).
    private static func meaning(of state: String) -> (OutputFault.Kind, advice: String)? {
        switch state {
        case "3D000": (.refused, "create it with `createdb`, or correct `database`")
        case "28P01", "28000":
            (.refused, "check user, password-file and the server's pg_hba.conf")
        case "42501":
            (.refused, "the role needs CREATE on the schema, or on the database to make it")
        case "25006":
            (.refused, "it is a read-only standby; name the primary, which takes readings")
        case "53100": (.unavailable, "the server's disk is full; make room there")
        case "53300": (.unavailable, "the server has no connection left")
        case "55P03", "57014":
            (
                .unavailable,
                "somebody holds a lock, or the server is slow; it is tried again (time-limit)"
            )
        case "25P03": (.unavailable, "")
        case "57P01", "57P02", "57P03": (.unavailable, "it is tried again")
        case "42P01", "42703", "42P07", "42804":
            (
                .unsuitable,
                "its tables are not as this program makes them; name another schema, or drop it"
            )
        default:
            switch state.prefix(2) {
            case "08", "40", "53", "55", "57", "58", "XX": (.unavailable, "")
            case "": nil
            default: (.refused, "SQLSTATE \(state)")
            }
        }
    }

    /// Of the library's own messages, which have no code.
    private static func meaning(ofWords said: String) -> (OutputFault.Kind, advice: String) {
        if said.contains("password") {
            return (.refused, "the server wants a password; give password-file")
        }
        if said.contains("does not support SSL") {
            return (.refused, "give the server TLS, or leave encryption out with tls: off")
        }
        if said.contains("certificate") || said.contains("SSL") || said.contains("private key") {
            return (.refused, "check tls, and the server's certificate: its date, its name, its ca")
        }
        if said.contains("definition of service") || said.contains("service file") {
            return (.refused, "check service, and pg_service.conf")
        }
        return (.unavailable, "")
    }

    /// In one line: without what is for debuggers, without the server's name (`place` has it),
    /// without control characters, and not endless.
    static func printable(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).filter {
            // What begins with a tab guesses at reasons.
            !$0.hasPrefix("LOCATION:") && !$0.hasPrefix("\t")
        }
        let words = lines.map { line in
            guard line.hasPrefix("connection to server"),
                let end = line.firstRange(of: " failed: ")
            else { return line }
            return line[end.upperBound...]
        }
        let text = words.joined(separator: " ").unicodeScalars.map {
            $0.value < 0x20 || $0.value == 0x7f ? " " : $0
        }
        return String(String(String.UnicodeScalarView(text)).prefix(300))
    }
}

extension PostgresFault {
    /// A message of a connection that fails, in the words for debuggers, taken apart:
    /// `… FATAL:  28P01: password authentication failed` has a code before the words.
    public static func splitting(_ message: String) -> (state: String?, words: String) {
        let marker = "FATAL:  "
        var found: (state: String?, words: String) = (nil, message)
        var rest = message[...]
        while let range = rest.firstRange(of: marker) {
            let tail = rest[range.upperBound...]
            let code = tail.prefix(5)
            if code.utf8.count == 5, tail.dropFirst(5).hasPrefix(": "),
                code.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) })
            {
                let head = message[..<range.upperBound]
                found = (String(code), String(head) + String(tail.dropFirst(7)))
            }
            rest = tail
        }
        return found
    }
}
