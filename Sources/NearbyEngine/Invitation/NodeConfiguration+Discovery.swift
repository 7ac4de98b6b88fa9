import NearbyCore
import NearbyWire

/// What discovery begins with.
extension NodeConfiguration {
    func makeDiscovery(own: PeerID, seed: UInt64) -> DiscoveryMachine {
        var identity = DiscoveryIdentity(
            peer: own, run: run, versions: WireVersion.spoken, network: networkTag,
            proves: !secrets.isEmpty, datagramsPerBeacon: 2)
        if application != nil {
            identity.lostPeerTime = Limits.lostPeerTime
            identity.infoTimeout = Limits.displayedInfoTimeout
            identity.rate = .ofApplications
        }
        return DiscoveryMachine(
            identity: identity,
            own: .init(
                dataPort: dataPort, role: role, flags: role == .collector ? [] : .wantsNeighbours,
                costToCollector: role == .collector ? 0 : nil, info: info),
            seed: seed)
    }
}

extension EncryptionPreference {
    /// What beacons say of it.
    var flags: BeaconFlags {
        switch self {
        case .none: .offersPlain
        case .optional: [.offersPlain, .offersEncryption]
        case .required: .offersEncryption
        }
    }
}

extension Limits {
    /// A neighbour that is gone is not shown to people for longer, unless it is heard.
    static let lostPeerTime = Duration.seconds(5)
    /// Programs decide by the info whom they invite: one that is asked for four times comes first.
    static let displayedInfoTimeout = Duration.seconds(8)
}
