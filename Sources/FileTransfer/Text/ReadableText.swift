/// Text from others, on our terminal and in our folders.
public enum ReadableText {
    /// Without controls, marks of direction and whatever else nobody sees.
    public static func replacing(_ text: String, with substitute: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(isSeen(scalar) ? scalar : substitute) }
        return String(scalars)
    }

    /// As a message shows it: at most 60 characters.
    public static func shown(_ text: String) -> String {
        let plain = replacing(text, with: "?")
        return plain.count > 60 ? plain.prefix(59) + "…" : plain
    }

    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
