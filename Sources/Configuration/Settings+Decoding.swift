import Glibc
import NearbyCore

extension Settings {
    /// What a check found: settings where nothing is wrong, otherwise every mistake in the file's
    /// order.
    public enum Outcome: Sendable {
        case good(Settings)
        case bad([Mistake])
    }

    /// Decodes the text of a configuration. `file` is its name in messages. Reads the secret file
    /// that it names.
    public static func decode(_ text: [UInt8], file: String) -> Outcome {
        let mistakes = MistakeList(file: file)
        let root: YAMLNode
        do throws(Mistake) {
            root = try YAMLNode.parse(text, file: file)
        } catch {
            return .bad([error])
        }
        var settings = Settings(Section(root, Self.file, mistakes), mistakes)
        settings.file = file
        settings.warnings = mistakes.warningsInOrder
        return mistakes.mistakes.isEmpty ? .good(settings) : .bad(mistakes.inOrder)
    }

    /// Reads and decodes a file.
    public static func load(_ path: String) -> Outcome {
        do throws(SmallFile.Fault) {
            return decode(try SmallFile.read(path, limit: YAMLNode.byteCountMax), file: path)
        } catch {
            return .bad([Mistake(unreadable: path, error)])
        }
    }

    /// Reads and decodes what comes on standard input.
    public static func loadStandardInput() -> Outcome {
        let name = "standard input"
        do throws(SmallFile.Fault) {
            let text = try SmallFile.readStandardInput(limit: YAMLNode.byteCountMax)
            return decode(text, file: name)
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
        reportSize = report.integer("size")
        reportWait = report.duration("wait")
        let journal = section.section("journal", Self.journal)
        journalMemory = journal.integer("memory")
        journalSpool = journal.integer("spool")
        spoolAfter = journal.duration("spool-after")
        let collector = section.section("collector", Self.collector)
        window = collector.duration("window")
        keep = collector.duration("keep")
        seriesPerAgent = collector.integer("series-per-agent")
        readingsPerAgent = collector.integer("readings-per-agent")
        storePerAgent = collector.integer("store-per-agent")
        store = Self.store(collector, state: state)
        statusLED = StatusLEDSettings(
            section.section("status-led", StatusLEDSettings.table), role: role,
            isGiven: section.node("status-led") != nil)
        collectors = section.list("collectors") { PeerID(text: $0) != nil }
            .compactMap { PeerID(text: $0.text) }
        if case .sequence(let items)? = section.node("collectors")?.value, items.isEmpty {
            section.add("collectors", "collectors is empty; name one at least, or leave it out")
        }
        decodeSecrets(section)
        decodeLabels(section, mistakes)
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
            hasInlineSecret = true
            guard case .scalar(let line, _) = node.value else {
                return section.add("secret", "secret must be \(Key.Form.secret.expected)")
            }
            switch Secret.parse(line) {
            case .success(let secret): secrets = [secret]
            case .failure(let fault): section.add("secret", "secret: \(fault)")
            }
        } else if let path = section.text("secret-file") {
            readSecrets(path, section)
        }
    }

    private mutating func readSecrets(_ path: String, _ section: Section) {
        secretFile = path
        guard !Secret.looksLikeOne(path) else {
            return section.add(
                "secret-file", "secret-file holds a secret, not a path; use the key secret")
        }
        // Told of already.
        guard PathText.fault(path, "") == nil else { return }
        switch Secret.load(path) {
        case .success(let all): secrets = all
        case .failure(let fault):
            section.add(
                section.node("secret-file") == nil ? "secret" : "secret-file",
                "the secret file \(PlainText.shown(path)): \(fault)")
        }
    }

    private mutating func decodeLabels(_ section: Section, _ mistakes: MistakeList) {
        guard let node = section.node("labels") else { return }
        guard case .mapping(let pairs) = node.value, pairs.count <= 16 else {
            return mistakes.add(node.mark, "labels must be \(Key.Form.pairs(most: 16).expected)")
        }
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
        labels.sort { $0.key < $1.key }
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
        let advice = fault == .notAFile ? " (`rivulet check -` reads standard input)" : ""
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
