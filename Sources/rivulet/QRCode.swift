import CQREncode

/// A QR code as text, two modules a character, light on dark as terminals are.
struct QRCode {
    private let side: Int
    private let modules: [Bool]

    /// - Parameter content: capital letters, digits and ` $%*+-./:` take the least room.
    init(_ content: String) throws(Failure) {
        guard let code = QRcode_encodeString(content, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else {
            throw Failure("\(content.utf8.count) bytes are too much for a QR code", .data)
        }
        defer { QRcode_free(code) }
        side = Int(code.pointee.width)
        modules = UnsafeBufferPointer(start: code.pointee.data, count: side * side).map {
            $0 & 1 != 0
        }
    }

    /// With the border that readers need, in half blocks; lines of `side` + 4 characters.
    var text: String {
        stride(from: -Self.border, to: side + Self.border, by: 2).map { row in
            (-Self.border..<side + Self.border).map { column in
                switch (isDark(column, row), isDark(column, row + 1)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
        }.joined(separator: "\n")
    }

    private func isDark(_ column: Int, _ row: Int) -> Bool {
        0..<side ~= column && 0..<side ~= row && modules[row * side + column]
    }

    private static let border = 2
}
