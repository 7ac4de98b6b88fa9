import Glibc
import NearbyCore
import Telemetry

extension Settings {
    /// What a check found: settings where nothing is wrong, otherwise every mistake in the file's
    /// order.
    public enum Outcome: Sendable {
        case good(Settings)
        case bad([Mistake])
    }

    /// Decodes more of the whole file than every node has.
    package typealias Also = (Settings, Section, MistakeList) -> Void

    /// Decodes the text of a configuration. `file` is its name in messages. Reads the secret file
    /// that it names. What a collector's file says of outputs, the page, agents and alarms is
    /// passed over; `CollectorSettings` decodes it.
    public static func decode(_ text: [UInt8], file: String) -> Outcome {
        decode(text, file: file) { _, _, _ in }
    }

    /// As `decode`, of a file.
    public static func load(_ path: String) -> Outcome { load(path) { _, _, _ in } }

    package static func decode(_ text: [UInt8], file: String, also: Also) -> Outcome {
        let mistakes = MistakeList(file: file)
        let node: YAMLNode
        do throws(Mistake) {
            node = try YAMLNode.parse(text, file: file)
        } catch {
            return .bad([error])
        }
        let root = Section(node, Self.file, mistakes)
        var settings = Settings(root, mistakes)
        settings.file = file
        also(settings, root, mistakes)
        settings.warnings = mistakes.warningsInOrder
        return mistakes.mistakes.isEmpty ? .good(settings) : .bad(mistakes.inOrder)
    }

    package static func load(_ path: String, also: Also) -> Outcome {
        do throws(SmallFile.Fault) {
            let text = try SmallFile.read(path, limit: YAMLNode.byteCountMax)
            return decode(text, file: path, also: also)
        } catch {
            return .bad([Mistake(unreadable: path, error)])
        }
    }

    /// Reads and decodes what comes on standard input.
    package static func loadStandardInput(also: Also) -> Outcome {
        let name = "standard input"
        do throws(SmallFile.Fault) {
            let text = try SmallFile.readStandardInput(limit: YAMLNode.byteCountMax)
            return decode(text, file: name, also: also)
        } catch {
            return .bad([Mistake(unreadable: name, error)])
        }
    }

    private init(_ section: Section, _ mistakes: MistakeList) {
        name = section.text("name") ?? Self.hostName
        network = section.text("network") ?? ""
        role = section.choice("role") ?? .agent
        encryption = section.choice("encryption") ?? .required
        state = section.text("state") ?? ""
        control = section.text("control") ?? ""
        trust = TrustSettings(section, state: state)
        let links = section.section("links", Self.links)
        udp = UDPSettings(
            links.section("udp", UDPSettings.table), isOn: links.word("udp") != "off")
        avahi = links.choice("avahi") ?? .auto
        bluetooth = BluetoothSettings(
            links.section("bluetooth", BluetoothSettings.table),
            isOn: links.word("bluetooth") != "off",
            isAsked: links.node("bluetooth") != nil && links.word("bluetooth") == nil)
        let report = section.section("report", Self.report)
        sending.reportSize = report.integer("size")
        sending.reportWait = report.duration("wait")
        let journal = section.section("journal", Self.journal)
        sending.memory = journal.integer("memory")
        sending.spool = journal.integer("spool")
        sending.spoolAfter = journal.duration("spool-after")
        let collector = section.section("collector", Self.collector)
        collecting.window = collector.duration("window")
        collecting.keep = collector.duration("keep")
        collecting.quotas.seriesPerAgent = collector.integer("series-per-agent")
        collecting.quotas.readingsPerAgent = collector.integer("readings-per-agent")
        collecting.quotas.storePerAgent = collector.integer("store-per-agent")
        collecting.store = Self.store(collector, state: state)
        statusLED = StatusLEDSettings(
            section.section("status-led", StatusLEDSettings.table), role: role,
            isGiven: section.node("status-led") != nil)
        collectors = section.list("collectors") { PeerID(text: $0) != nil }
            .compactMap { PeerID(text: $0.text) }
        if case .sequence(let items)? = section.node("collectors")?.value, items.isEmpty {
            section.add("collectors", "collectors is empty; name one at least, or leave it out")
        }
        decodeSecrets(section)
        labels = Self.labels(section, mistakes)
        refuseBehind(section)
        sensors = SensorSettings.decode(section, mistakes)
        if !bluetooth.isOn { BLESettings.refuse(sensors, mistakes) }
        section.checkPath("control", control)
        if !udp.isOn, !bluetooth.isOn {
            section.add(
                "links", "udp and bluetooth are both off: nobody could be reached; leave one on")
        }
        if role == .agent, sensors.isEmpty {
            section.warn(
                "sensors",
                "an agent without sensors measures nothing: `rivulet sensors` lists what is "
                    + "attached; write `role: relay` if it is only to forward")
        }
        if role == .collector || role == .viewer, !sensors.isEmpty {
            section.add(
                "sensors",
                "a \(role.rawValue) reads no sensors; leave them out, and run an agent beside it: "
                    + "deploy/examples/lone-board.yaml")
        }
    }

    /// What stands behind a collector has no place in the file of another node.
    private func refuseBehind(_ section: Section) {
        guard role != .collector else { return }
        let isViewer = role == .viewer
        if section.hasContent("outputs") {
            section.add(
                "outputs",
                "outputs follow a collector's store; leave them out here, or write "
                    + "`role: collector`")
        }
        if !isViewer, section.node("web") != nil {
            section.add("web", "web is the collector's page; leave it out here")
        }
        if !isViewer, section.hasContent("agents") {
            section.add("agents", "agents is for collectors and viewers; leave it out here")
        }
        if !isViewer, section.hasContent("alarms") {
            section.add("alarms", "alarms are a collector's; leave them out here")
        }
    }

    /// - Parameter collector: the section `collector`.
    static func store(_ collector: Section, state: String) -> String? {
        let store = collector.text("store") ?? state + "/readings.sqlite"
        return store == "off" ? nil : store
    }

    // MARK: Who is let in

    private mutating func decodeSecrets(_ section: Section) {
        let given = ["secret", "secret-file"].filter { section.node($0) != nil }
        if given.count == 2 {
            section.add("secret", "secret and secret-file are both given; leave one out")
        }
        if trust.kind == .anybody {
            for key in given {
                section.add(key, "\(key) has no use with `trust: any`; leave one of the two out")
            }
            return
        }
        // Those who are known by their keys need no secret, unless one is named.
        if trust.isByKey, given.isEmpty { return }
        if let node = section.node("secret") {
            secret.isInline = true
            guard case .scalar(let line, _) = node.value else {
                return section.add("secret", "secret must be \(Key.Form.secret.expected)")
            }
            switch Secret.parse(line) {
            case .success(let one): secret.all = [one]
            case .failure(let fault): section.add("secret", "secret: \(fault)")
            }
        } else if let path = section.text("secret-file") {
            readSecrets(path, section)
        }
    }

    private mutating func readSecrets(_ path: String, _ section: Section) {
        secret.file = path
        guard !Secret.looksLikeOne(path) else {
            return section.add(
                "secret-file", "secret-file holds a secret, not a path; use the key secret")
        }
        // Told of already.
        guard PathText.fault(path, "") == nil else { return }
        switch Secret.load(path) {
        case .success(let all): secret.all = all
        case .failure(let fault):
            section.add(
                section.node("secret-file") == nil ? "secret" : "secret-file",
                "the secret file \(PlainText.shown(path)): \(fault)")
        }
    }

    /// The pairs below `labels`, sorted by key.
    package static func labels(
        _ section: Section, _ mistakes: MistakeList
    ) -> [(key: String, value: String)] {
        guard let node = section.node("labels") else { return [] }
        guard case .mapping(let pairs) = node.value, pairs.count <= 16 else {
            mistakes.add(node.mark, "labels must be \(Key.Form.pairs(most: 16).expected)")
            return []
        }
        var labels: [(key: String, value: String)] = []
        for (key, value) in pairs {
            guard case .scalar(let keyText, _) = key.value, case .scalar(let text, _) = value.value,
                (1...63).contains(keyText.utf8.count), text.utf8.count <= 63,
                PlainText.isPrintable(keyText), PlainText.isPrintable(text)
            else {
                mistakes.add(
                    key.mark,
                    "a label must be two texts of at most 63 bytes without control characters")
                continue
            }
            for (text, what) in [(keyText, "the name of a label"), (text, "the value of a label")] {
                if let found = InvisibleCharacter(in: text) {
                    mistakes.add(key.mark, found.advice(what))
                }
            }
            if labels.contains(where: { $0.key == keyText }) {
                mistakes.add(
                    key.mark, "label \(PlainText.shown(keyText)) comes twice; leave one out")
            } else {
                labels.append((keyText, text))
            }
        }
        return labels.sorted { $0.key < $1.key }
    }

    /// What the kernel calls this machine, at most 63 bytes.
    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 65)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unnamed" }
        let bytes = buffer.prefix { $0 != 0 }.prefix(63).map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "unnamed" : String(decoding: bytes, as: UTF8.self)
    }
}

extension Mistake {
    /// A configuration that cannot be read.
    init(unreadable file: String, _ fault: SmallFile.Fault) {
        let advice =
            switch fault {
            case .notAFile: " (`rivulet check -` reads standard input)"
            case .system(ENOENT) where file == Settings.standardPath:
                ", or " + Settings.makingAdvice
            default: ""
            }
        self.init(
            file: file, mark: .start, message: "\(fault)\(advice)", systemCode: fault.systemCode)
    }
}

extension UDPSettings {
    fileprivate init(_ section: Section, isOn: Bool) {
        self.isOn = isOn
        port = UInt16(clamping: section.integer("port"))
        interfaces = section.list("interfaces", where: PeerText.isInterface).map(\.text)
        beacon = section.flag("beacon")
        peers = section.list("peers", where: PeerText.isValid)
        for peer in peers {
            guard let kind = PeerText.foreignKind(peer.text) else { continue }
            section.add(
                at: peer.mark,
                "peers has '\(peer.text)', \(kind); it must be the address of one node")
        }
    }
}
