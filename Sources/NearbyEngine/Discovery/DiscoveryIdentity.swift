import NearbyCore
import NearbyWire

/// What beacons say of this node.
struct DiscoveryOwnState: Equatable, Sendable {
    var dataPort: UInt16
    var role: Role
    var flags: BeaconFlags
    var costToCollector: UInt16?
    var info: DiscoveryInfo
    /// Shown to people; nil: beacons carry none.
    var name: BeaconName?

    init(
        dataPort: UInt16, role: Role, flags: BeaconFlags, costToCollector: UInt16? = nil,
        info: DiscoveryInfo = .empty
    ) {
        self.dataPort = dataPort
        self.role = role
        self.flags = flags
        self.costToCollector = costToCollector
        self.info = info
    }

    var beacon: Beacon {
        Beacon(
            dataPort: dataPort, role: role, flags: flags, costToCollector: costToCollector,
            infoDigest: info.digest, name: name)
    }

    /// We want neighbours; or it does, and may want us. A full node makes room only for one without
    /// a route.
    func isWorthAnswering(_ beacon: Beacon) -> Bool {
        if flags.contains(.wantsNeighbours) { return true }
        guard beacon.flags.contains(.wantsNeighbours) else { return false }
        return !flags.contains(.full) || !beacon.flags.contains(.hasRoute)
    }
}

/// What does not change while the process runs.
struct DiscoveryIdentity: Equatable, Sendable {
    var peer: PeerID
    var run: RunID
    var versions: ClosedRange<UInt8>
    /// In every frame of ours.
    var network: NetworkTag
    /// Also accepted: older lines of the secret file.
    var otherNetworks: [NetworkTag]
    /// The node adds a proof to what leaves; counted where an answer must not exceed what it
    /// answers.
    var proves: Bool
    var proofByteCount: Int { proves ? DiscoveryFrame.proofByteCount : 0 }
    /// Datagrams that leave for one `multicast`: 2 where the shell sends both IPv6 and IPv4.
    /// They count in what may leave in a second.
    var datagramsPerBeacon: Int
    var rate = DiscoveryRate()
    /// How long a peer that is in use no more is remembered unless it is heard; nil: as others.
    var lostPeerTime: Duration?
    /// The longest between two beacons.
    var beaconInterval: Duration { showsPeers ? Trickle.longestShown : Trickle.longest }
    /// Whether people see who is near.
    var showsPeers: Bool { lostPeerTime != nil }
    /// How long people are told nothing of a new peer whose discovery info has not come yet.
    var infoTimeout: Duration = .seconds(1)

    init(
        peer: PeerID, run: RunID, versions: ClosedRange<UInt8> = 1...1, network: NetworkTag,
        otherNetworks: [NetworkTag] = [], proves: Bool = false, datagramsPerBeacon: Int = 1
    ) {
        self.peer = peer
        self.run = run
        self.versions = versions
        self.network = network
        self.otherNetworks = otherNetworks
        self.proves = proves
        self.datagramsPerBeacon = datagramsPerBeacon
    }

    func frame(_ body: DiscoveryFrame.Body) -> DiscoveryFrame {
        DiscoveryFrame(versions: versions, network: network, peer: peer, run: run, body: body)
    }
}
