import NearbyCore

/// Who hears whom over the air: nodes in a plane, whose frames are lost the more the farther they
/// go. Lengths are in ranges: over one, half of a node's frames are lost.
///
/// A frame to one receiver is tried four times, as Wi-Fi does; one to all is sent once.
public struct RadioField: Sendable {
    public struct Position: Equatable, Sendable {
        public var x: Double
        public var y: Double

        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        func distance(to other: Position) -> Double {
            let (across, up) = (x - other.x, y - other.y)
            return (across * across + up * up).squareRoot()
        }
    }

    /// A node that hears, and which part of the frames to it is lost.
    public struct Hearing: Equatable, Sendable {
        public var host: Int
        public var frameLoss: Double

        /// What is lost although it was tried again and again.
        public var datagramLoss: Double { frameLoss * frameLoss * frameLoss * frameLoss }
    }

    public private(set) var positions: [Position]
    /// How much nearer than others one has to be to hear this node.
    private let weakness: [Double]
    private let seed: UInt64
    /// For each node those that hear it, by their numbers.
    public private(set) var hearers: [[Hearing]] = []

    /// - Parameter weak: nodes that hear as others do, and are heard over 0.7 of a range only.
    public init(_ positions: [Position], weak: Set<Int> = [], seed: UInt64) {
        self.positions = positions
        weakness = positions.indices.map { weak.contains($0) ? 1 / 0.7 : 1 }
        self.seed = seed
        listen()
    }

    public func hearing(of sender: Int, at receiver: Int) -> Hearing? {
        hearers[sender].first { $0.host == receiver }
    }

    public mutating func move(_ moves: [(host: Int, to: Position)]) {
        for (host, position) in moves { positions[host] = position }
        listen()
    }

    /// Finds out who hears whom, with the nodes sorted into squares as wide as anybody is heard.
    private mutating func listen() {
        var squares: [Square: [Int]] = [:]
        for (host, position) in positions.enumerated() {
            squares[Square(position), default: []].append(host)
        }
        hearers = positions.indices.map { sender in
            var heard: [Hearing] = []
            for square in Square(positions[sender]).around {
                for receiver in squares[square] ?? [] where receiver != sender {
                    let loss = frameLoss(from: sender, to: receiver)
                    if loss < Self.lossMax { heard.append(.init(host: receiver, frameLoss: loss)) }
                }
            }
            return heard.sorted { $0.host < $1.host }
        }
    }

    private struct Square: Hashable {
        var column: Int
        var row: Int

        init(column: Int, row: Int) {
            self.column = column
            self.row = row
        }

        init(_ position: Position) {
            column = Int((position.x / RadioField.reach).rounded(.down))
            row = Int((position.y / RadioField.reach).rounded(.down))
        }

        var around: [Square] {
            (-1...1).flatMap { across in
                (-1...1).map { Square(column: column + across, row: row + $0) }
            }
        }
    }

    /// One in a hundred is lost nearby, half at one range: with the eighth power of the distance
    /// the edge is as sharp as that of a real receiver. Walls make a pair up to 15 % farther apart
    /// than it is, or nearer.
    private func frameLoss(from sender: Int, to receiver: Int) -> Double {
        let (low, high) = sender < receiver ? (sender, receiver) : (receiver, sender)
        var wall = SeededGenerator(seed: seed ^ UInt64(low) << 32 ^ UInt64(high))
        let shadow = Double.random(in: 0.85...1.15, using: &wall)
        let distance =
            positions[sender].distance(to: positions[receiver]) * shadow * weakness[sender]
        let square = distance * distance
        let fourth = square * square
        return 0.01 + 0.49 * fourth * fourth
    }

    /// Beyond, nothing is heard at all.
    private static let lossMax = 0.9
    /// Nobody is heard from farther away.
    private static let reach = 1.3
}
