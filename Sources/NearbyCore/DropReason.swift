/// Why something was not processed. Each has a counter that `rivulet status` shows.
public enum DropReason: String, CaseIterable, Sendable {
    // Discovery
    case beaconMalformed = "beacon-malformed"
    case beaconForeignNetwork = "beacon-foreign-network"
    case beaconBadProof = "beacon-bad-proof"
    case beaconVersion = "beacon-version"
    case beaconEcho = "beacon-echo"
    /// A nudge from a neighbour that needs none.
    case beaconUnneeded = "beacon-unneeded"
    case beaconAnswerRate = "beacon-answer-rate"
    /// Nudges of one pair or one address came faster than they can mean anything.
    case beaconNudgeShare = "beacon-nudge-share"
    /// Another run of a connected peer, while the present one still answers.
    case beaconRestartUnproved = "beacon-restart-unproved"
    case beaconEndpointLimit = "beacon-endpoint-limit"
    case discoveryTableFull = "discovery-table-full"
    case discoveryInfoDigest = "discovery-info-digest"
    case discoveryInfoUnsolicited = "discovery-info-unsolicited"
    /// DNS-SD named what is no node.
    case serviceMalformed = "service-malformed"
    case serviceTableFull = "service-table-full"
    // Handshake
    case handshakeMalformed = "handshake-malformed"
    case handshakeRecordFiltered = "handshake-record-filtered"
    case handshakeUnknown = "handshake-unknown"
    case handshakeTableFull = "handshake-table-full"
    /// One source address or prefix has its share of handshakes in progress.
    case handshakeShareFull = "handshake-share-full"
    /// An unproved handshake made room for a newer one.
    case handshakeEvicted = "handshake-evicted"
    /// It came over an interface that is not among `links.udp.interfaces`.
    case interfaceNotConfigured = "interface-not-configured"
    case handshakeFailed = "handshake-failed"
    case handshakeTimeout = "handshake-timeout"
    case handshakeCertificate = "handshake-certificate"
    case handshakeWrongPeer = "handshake-wrong-peer"
    // Channel
    case frameMalformed = "frame-malformed"
    case frameUnknownChannel = "frame-unknown-channel"
    case frameForged = "frame-forged"
    case frameReplayed = "frame-replayed"
    case frameNotAdmitted = "frame-not-admitted"
    case frameUnknownType = "frame-unknown-type"
    case frameWrongLink = "frame-wrong-link"
    /// An ICMP error about a datagram of ours that proves nothing: of no neighbour, or of one that
    /// is suspect already; not about the question that is out; or cut too short.
    case datagramReturned = "datagram-returned"
    case admissionSecret = "admission-secret"
    case admissionVersion = "admission-version"
    case admissionPreference = "admission-preference"
    case admissionTimeout = "admission-timeout"
    case admissionShortIDTaken = "admission-short-id-taken"
    /// `trust: pinned` does not list the peer.
    case admissionNotListed = "admission-not-listed"
    /// No certificate of it leads to our anchors.
    case admissionCertificate = "admission-certificate"
    /// Its certificate does not name the role that it says it has.
    case admissionRole = "admission-role"
    /// The other side does not let us in, for a reason of these.
    case admissionRefused = "admission-refused"
    /// A certificate is not valid at this date.
    case certificateExpired = "certificate-expired"
    /// Nothing was dropped: a chain was accepted without its dates, since our clock may be wrong.
    case certificateUndated = "certificate-undated"
    case invitationTimeout = "invitation-timeout"
    case channelTableFull = "channel-table-full"
    /// Invitations over one first hop, beyond its share of channels.
    case channelShareFull = "channel-share-full"
    /// Agents take no invitations over the mesh.
    case invitationOverMesh = "invitation-over-mesh"
    /// A role that was announced but not admitted, or a collector that `collectors:` does not list.
    case roleNotAdmitted = "role-not-admitted"
    /// The channel's keys have sealed as much as they may.
    case sealExhausted = "seal-exhausted"
    // Mesh
    case packetMalformed = "packet-malformed"
    case packetHopLimit = "packet-hop-limit"
    case packetNoRoute = "packet-no-route"
    case routingMalformed = "routing-malformed"
    case routingTableFull = "routing-table-full"
    case routingInfeasible = "routing-infeasible"
    /// A seqno too far ahead of the newest one known.
    case routingSeqnoLeap = "routing-seqno-leap"
    /// One neighbour announces more destinations than its share.
    case routingShareFull = "routing-share-full"
    /// Echo questions of one source, or over one neighbour, beyond what is answered in a second.
    case echoRate = "echo-rate"
    /// An echo answer that nobody waits for, or not any more.
    case echoUnsolicited = "echo-unsolicited"
    /// More came in than could be opened, and of this priority there was too much.
    case arrivalsFullControl = "arrivals-full-control"
    case arrivalsFullFresh = "arrivals-full-fresh"
    case arrivalsFullReliable = "arrivals-full-reliable"
    case arrivalsFullBulk = "arrivals-full-bulk"
    /// The same of handshakes, and of whatever else is not of an admitted channel.
    case arrivalsFullUnsealed = "arrivals-full-unsealed"
    case queueFullControl = "queue-full-control"
    case queueFullFresh = "queue-full-fresh"
    case queueFullReliable = "queue-full-reliable"
    case queueFullBulk = "queue-full-bulk"
    // Session
    case messageMalformed = "message-malformed"
    case messageTooLong = "message-too-long"
    case messageDuplicate = "message-duplicate"
    case segmentBeyondWindow = "segment-beyond-window"
    case segmentTableFull = "segment-table-full"
    case acknowledgementUnsent = "acknowledgement-unsent"
    // Groups
    case groupMalformed = "group-malformed"
    case groupUnexpected = "group-unexpected"
    case groupUnknownSession = "group-unknown-session"
    case groupNotConnected = "group-not-connected"
    case groupTableFull = "group-table-full"
    case groupTooLong = "group-too-long"
    /// One peer says `connect` too often.
    case groupConnectRate = "group-connect-rate"
    // Transfers
    case transferMalformed = "transfer-malformed"
    case transferDuplicate = "transfer-duplicate"
    /// About a stream or resource that is over, or not so far.
    case transferUnexpected = "transfer-unexpected"
    case transferTableFull = "transfer-table-full"
    case transferBeyondLimit = "transfer-beyond-limit"
    /// The end of a stream or resource was said to be elsewhere.
    case transferFinalSize = "transfer-final-size"
    // Readings
    case reportMalformed = "report-malformed"
    case reportWithoutBirth = "report-without-birth"
    case reportDuplicate = "report-duplicate"
    case birthMalformed = "birth-malformed"
    case readingTableFull = "reading-table-full"
    case readingUnknownChannel = "reading-unknown-channel"
    case readingOutsideWindows = "reading-outside-windows"
    /// Dated so far off that no clock explains it.
    case readingTimeImplausible = "reading-time-implausible"
    /// One peer's share of readings a second, of window series, of births a minute, of bytes.
    case readingQuota = "reading-quota"
    case seriesQuota = "series-quota"
    case birthQuota = "birth-quota"
    case storeQuota = "store-quota"
    /// A part of a batch that the store cannot write.
    case storePartRefused = "store-part-refused"
    /// A foreign clock that may not move times that are founded better.
    case clockOverruled = "clock-overruled"
    case journalFull = "journal-full"
    case spoolFailed = "spool-failed"
    case storeBehind = "store-behind"
    case birthRequestRate = "birth-request-rate"
    case telemetryUnknownType = "telemetry-unknown-type"
    case telemetryUnexpected = "telemetry-unexpected"
    /// An answer to a time request that was not made, or was answered already.
    case timeAnswerUnsolicited = "time-answer-unsolicited"
    /// Its round trip is negative or longer than any can be.
    case timeAnswerImplausible = "time-answer-implausible"
    case samplerQueueFull = "sampler-queue-full"
    /// A channel that the page and `rivulet top` have no room for; it is stored all the same.
    case fleetChannelTableFull = "fleet-channel-table-full"
    /// A node, channel or condition that alarms have no room for.
    case alarmTableFull = "alarm-table-full"
    /// A window that is not printed: nobody reads standard output, and its queue is full.
    case standardOutputFull = "standard-output-full"
    // Shell
    case socketSendFailed = "socket-send-failed"
    case socketSendWouldBlock = "socket-send-would-block"
    case socketSendUnreachable = "socket-send-unreachable"
    case socketSendNoBuffers = "socket-send-no-buffers"
    case socketReceiveTruncated = "socket-receive-truncated"
    case socketReceiveOverflow = "socket-receive-overflow"
    case bulkQueueFull = "bulk-queue-full"
    // Bluetooth
    case advertisementMalformed = "advertisement-malformed"
    case advertisementForeignNetwork = "advertisement-foreign-network"
    case managementMalformed = "management-malformed"
    case bluetoothConnectFailed = "bluetooth-connect-failed"
    case bluetoothConnectionLimit = "bluetooth-connection-limit"
    case bluetoothQueueFull = "bluetooth-queue-full"
    case bluetoothTableFull = "bluetooth-table-full"
    case bluetoothTooLong = "bluetooth-too-long"
    case bluetoothUnknownPeer = "bluetooth-unknown-peer"
    case controlClientRefused = "control-client-refused"
    case controlClientSlow = "control-client-slow"
    case controlRequestTooLong = "control-request-too-long"
}

/// A counter for every `DropReason`.
public struct DropCounters: Sendable, Equatable {
    private var counts = [UInt64](repeating: 0, count: DropReason.allCases.count)

    public init() {}

    public mutating func count(_ reason: DropReason, _ times: UInt64 = 1) {
        counts[Self.index[reason] ?? 0] &+= times
    }

    public mutating func add(_ other: DropCounters) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
    }

    public subscript(reason: DropReason) -> UInt64 { counts[Self.index[reason] ?? 0] }

    /// All reasons in their declared order, zeros included.
    public var all: [(reason: DropReason, count: UInt64)] {
        zip(DropReason.allCases, counts).map { (reason: $0, count: $1) }
    }

    private static let index = Dictionary(
        uniqueKeysWithValues: DropReason.allCases.enumerated().map { ($1, $0) })
}
