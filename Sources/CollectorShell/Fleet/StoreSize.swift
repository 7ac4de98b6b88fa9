import Glibc
import NearbyCore

/// What a store takes on disk, asked once in ten seconds.
struct StoreSize {
    private let path: String
    private var known: (byteCount: UInt64, until: Instant)?

    init(path: String) { self.path = path }

    /// With the log beside it.
    mutating func byteCount(_ now: Instant) -> UInt64 {
        if let known, now < known.until { return known.byteCount }
        let sizes = ["", "-wal"].map { suffix -> UInt64 in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? UInt64(max(status.st_size, 0)) : 0
        }
        let byteCount = sizes[0] &+ sizes[1]
        known = (byteCount, now + .seconds(10))
        return byteCount
    }
}
