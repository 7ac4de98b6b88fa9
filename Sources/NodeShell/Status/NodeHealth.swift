/// Whether a node does its work: what an update asks before it keeps a new version.
///
/// That it answers shows that its configuration was read and that its loop turns.
enum NodeHealth {
    /// With what the answer of a healthy node begins.
    static let good = "healthy: "

    /// - Parameters:
    ///   - sent: datagrams since the start, over all links; the first of them are beacons.
    ///   - neighbours: admitted ones.
    static func text(sent: UInt64, neighbours: Int) -> String {
        guard sent > 0 || neighbours > 0 else {
            return "not healthy: no beacon was sent and there is no neighbour; "
                + "is there an interface that is up?"
        }
        return good + "\(sent) \(sent == 1 ? "datagram" : "datagrams") sent, "
            + "\(neighbours) \(neighbours == 1 ? "neighbour" : "neighbours")"
    }
}
