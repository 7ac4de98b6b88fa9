/// A parser of bytes from outside, as a fuzzer sees it: whatever the bytes, it must come back. What
/// it promises beyond that (a round trip, a bound) is a precondition here.
public struct FuzzTarget: Sendable {
    /// Of the folder with its corpus, too.
    public let name: String
    public let run: @Sendable ([UInt8]) -> Void

    public static let all: [FuzzTarget] =
        [
            network, radio, [yaml, secret, joinLine, address], sensors, advertisements,
            [serial, linePattern, i2c], kernel, stored, shaping, local,
            transfers, groups, [collector, telemeter, node],
        ].flatMap { (group: [FuzzTarget]) -> [FuzzTarget] in group }

    /// Nil if there is none of this name.
    public init?(named name: String) {
        guard let target = Self.all.first(where: { $0.name == name }) else { return nil }
        self = target
    }

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.run = run
    }

    /// One of several parsers, chosen by the first byte; it gets the rest.
    init(_ name: String, oneOf parsers: [@Sendable (ArraySlice<UInt8>) -> Void]) {
        self.init(name) { bytes in
            guard let first = bytes.first else { return }
            parsers[Int(first) % parsers.count](bytes.dropFirst())
        }
    }
}
