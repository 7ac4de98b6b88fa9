import NearbyLinux
import Telemetry

extension ClockReading {
    /// What this machine knows of UTC, in the words that nodes exchange.
    package init(_ reading: WallClock.BothClocks) {
        let rank: ClockRank =
            switch reading.rank {
            case .none: .none
            case .hardware: .hardware
            case .synchronised: .network
            }
        self.init(rank: rank, unixOffset: reading.unixOffset)
    }
}
