import NearbyCore
import NearbyWire

public struct SessionMachine {
    public init() {}
    public enum Input {
        case sendUnreliable([UInt8], Priority), sendReliable([UInt8]), received(
            FrameKind, ArraySlice<UInt8>), deadlineReached
    }
    public enum Output {
        case frame([UInt8], Priority), delivered([UInt8], isReliable: Bool), drop(DropReason)
    }
    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .sendUnreliable(let m, let p): return [.frame([0xa0] + m, p)]
        case .sendReliable(let m): return [.frame([0xa1] + m, .reliable)]
        case .received(let k, let b): return [.delivered(Array(b), isReliable: k == .segment)]
        case .deadlineReached: return []
        }
    }
    public var nextDeadline: Instant? { nil }
    public func takeUnacknowledged() -> [[UInt8]] { [] }
}
