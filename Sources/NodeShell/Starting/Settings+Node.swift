import Configuration
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire
import Telemetry

extension NodeOptions {
    package init(
        _ settings: Settings, role: Role, run: RunID, _ identity: NodeIdentity
    ) throws(StartError) {
        let digest = OpenSSLCryptography(identity: identity).sha256(
            Array("rivulet network ".utf8) + Array(settings.network.utf8))
        // From the name alone: two secrets of one network must hear each other while they are
        // changed.
        let tag = NetworkTag(value: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        var configuration = NodeConfiguration(
            name: settings.name, role: role, networkTag: tag, run: run, seed: systemRandom())
        configuration.software = ProgramVersion.text
        configuration.secrets = settings.secrets
        configuration.preference = EncryptionPreference(settings.encryption)
        configuration.collectors = Set(settings.collectors)
        switch settings.trust.kind {
        case .secret, .anybody: break
        case .authority: configuration.membership = .certified
        case .pinned:
            let listed = Set(settings.trust.peers)
            configuration.membership = .listed(listed)
            // No others are worth a call.
            if settings.collectors.isEmpty { configuration.collectors = listed }
        }
        self.init(configuration: configuration)
        port = settings.udp.port
        interfaces = settings.udp.interfaces
        beacon = settings.udp.beacon
        usesUDP = settings.udp.isOn
        bluetooth = BluetoothChoice(settings.bluetooth)
        for peer in settings.udp.peers {
            do throws(AddressText.Fault) {
                staticPeers.append(try AddressText(parsing: peer.text))
            } catch {
                throw StartError(
                    "line \(peer.mark.line), column \(peer.mark.column): "
                        + "peer \(peer.text): \(error)", .configuration)
            }
        }
    }
}

extension Telemeter.Settings {
    package init(
        _ settings: Settings, run: RunID, hasSpool: Bool
    ) throws(WireError) {
        let labels = settings.labels.map { Label(key: $0.key, value: $0.value) }
        let node = try NodeDescription(
            name: settings.name, labels: labels, board: ThisMachine.model)
        self.init(run: run, boot: ThisMachine.bootID, node: node)
        reportBytesMax = settings.reportSize
        wait = settings.reportWait
        journal.memoryBytesMax = settings.journalMemory
        journal.spoolAfter = hasSpool ? settings.spoolAfter : nil
    }
}

extension EncryptionPreference {
    init(_ configured: ConfiguredEncryption) {
        switch configured {
        case .none: self = .none
        case .optional: self = .optional
        case .required: self = .required
        }
    }
}

extension Role {
    package init(_ configured: ConfiguredRole) {
        switch configured {
        case .agent: self = .agent
        case .relay: self = .relay
        case .collector: self = .collector
        case .viewer: self = .viewer
        }
    }
}
