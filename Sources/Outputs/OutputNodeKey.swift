import NearbyCore

/// A run: with a sequence number the key of a reading.
struct OutputNodeKey: Hashable {
    let peer: PeerID
    let run: RunID
}
