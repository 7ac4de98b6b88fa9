import Glibc

extension Settings {
    /// What a check found: settings where nothing is wrong, otherwise every mistake in the file's
    /// order.
    public enum Outcome: Sendable {
        case good(Settings)
        case bad([Mistake])
    }

    /// Decodes the text of a configuration. `file` is its name in messages.
    public static func decode(_ text: [UInt8], file: String) -> Outcome {
        let mistakes = MistakeList(file: file)
        let root: YAMLNode
        do throws(Mistake) {
            root = try YAMLNode.parse(text, file: file)
        } catch {
            return .bad([error])
        }
        guard
            let section = Section(
                root, "the configuration", keys: keys, later: ["journal", "store"], mistakes)
        else { return .bad(mistakes.mistakes) }
        let settings = Settings(section, mistakes)
        guard mistakes.mistakes.isEmpty else {
            return .bad(mistakes.mistakes.sorted { $0.mark < $1.mark })
        }
        return .good(settings)
    }

    /// Reads and decodes a file.
    public static func load(_ path: String) -> Outcome {
        do throws(Mistake) {
            return decode(try SmallFile.read(path, limit: YAMLNode.byteCountMax), file: path)
        } catch {
            return .bad([error])
        }
    }

    private init(_ section: Section, _ mistakes: MistakeList) {
        name = section.text("name", bytes: 1...63) ?? Self.hostName
        network = section.text("network", bytes: 1...63) ?? "rivulet"
        role = section.choice("role") ?? role
        encryption = section.choice("encryption") ?? encryption
        state = section.text("state") ?? state
        control = section.text("control", bytes: 1...107) ?? control
        decodeTrust(section)
        decodeLabels(section, mistakes)
        if let node = section.node("links"),
            let links = Section(
                node, "links", keys: Self.linkKeys, later: ["avahi", "bluetooth"], mistakes),
            let udpNode = links.node("udp"),
            let udpSection = Section(
                udpNode, "links.udp", keys: UDPSettings.keys, later: ["beacon-port"], mistakes)
        {
            udp = UDPSettings(udpSection, mistakes)
        }
        if let node = section.node("sensors") { decodeSensors(node, mistakes) }
        if let node = section.node("report"),
            let report = Section(node, "report", keys: Self.reportKeys, mistakes)
        {
            reportSize = report.integer("size", 100...900) ?? reportSize
            reportWait = report.duration("wait", .zero...Duration.seconds(60)) ?? reportWait
        }
        if let node = section.node("collector"),
            let collector = Section(
                node, "collector", keys: Self.collectorKeys, later: ["store", "keep", "sinks"],
                mistakes)
        {
            window = collector.duration("window", .seconds(1)...Duration.seconds(3_600)) ?? window
        }
    }

    // MARK: Who is let in

    private mutating func decodeTrust(_ section: Section) {
        trustsAnybody =
            section.value("trust", expects: "secret or any") {
                $0 == "any" ? true : $0 == "secret" ? false : nil
            } ?? false
        if section.has("secret"), section.has("secret-file") {
            section.add("secret", "secret and secret-file are both given; leave one out")
        }
        if let line = section.text("secret") {
            switch Secret.parse(line) {
            case .success(let secret): secrets = [secret]
            case .failure(let fault): section.add("secret", "secret: \(fault)")
            }
        } else if section.has("secret-file") || !trustsAnybody {
            let path = section.text("secret-file") ?? "/etc/rivulet/secret"
            secretFile = path
            switch Secret.load(path) {
            case .success(let all): secrets = all
            case .failure(let fault): section.add("secret-file", "\(path): \(fault)")
            }
        }
        if trustsAnybody { secrets = [] }
    }

    private mutating func decodeLabels(_ section: Section, _ mistakes: MistakeList) {
        guard let node = section.node("labels") else { return }
        guard case .mapping(let pairs) = node.value, pairs.count <= 16 else {
            return mistakes.add(node.mark, "labels must be at most 16 pairs of text")
        }
        for (key, value) in pairs {
            guard case .scalar(let keyText, _) = key.value, case .scalar(let text, _) = value.value,
                (1...63).contains(keyText.utf8.count), text.utf8.count <= 63
            else {
                mistakes.add(key.mark, "a label is a pair of text of at most 63 bytes each")
                continue
            }
            if labels.contains(where: { $0.key == keyText }) {
                mistakes.add(key.mark, "label \(keyText) comes twice; leave one out")
            } else {
                labels.append((keyText, text))
            }
        }
        labels.sort { $0.key < $1.key }
    }

    // MARK: Sensors

    private mutating func decodeSensors(_ node: YAMLNode, _ mistakes: MistakeList) {
        guard case .sequence(let items) = node.value, items.count <= 64 else {
            return mistakes.add(
                node.mark, "sensors must be a list of at most 64, each beginning with -")
        }
        for item in items {
            if let sensor = SensorSettings(item, mistakes) { sensors.append(sensor) }
        }
    }

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 64)
        guard gethostname(&buffer, 63) == 0 else { return "unnamed" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "unnamed" : String(decoding: bytes, as: UTF8.self)
    }
}

extension UDPSettings {
    fileprivate init(_ section: Section, _ mistakes: MistakeList) {
        port = section.integer("port", 0...65_535).map { UInt16($0) } ?? 0
        interfaces = section.texts("interfaces", most: 16) ?? []
        beacon = section.flag("beacon") ?? true
        if let node = section.node("peers") {
            guard case .sequence(let items) = node.value, items.count <= 64 else {
                mistakes.add(node.mark, "peers must be a list of at most 64 addresses")
                return
            }
            for item in items {
                if case .scalar(let text, _) = item.value {
                    peers.append((text, item.mark))
                } else {
                    mistakes.add(item.mark, "a peer must be text such as \"10.0.0.5:4577\"")
                }
            }
        }
    }
}

extension SensorSettings {
    fileprivate init?(_ node: YAMLNode, _ mistakes: MistakeList) {
        guard case .mapping(let pairs) = node.value else {
            mistakes.add(
                node.mark, "a sensor must be a mapping such as {driver: system, every: 10s}")
            return nil
        }
        let driver = pairs.first {
            if case .scalar("driver", _) = $0.key.value { true } else { false }
        }
        guard let driver, case .scalar(let name, _) = driver.value.value else {
            mistakes.add(node.mark, "a sensor needs the key driver: system, command or replay")
            return nil
        }
        guard let known = Self.keysByDriver.first(where: { $0.name == name }) else {
            let names = Self.keysByDriver.map(\.name)
            mistakes.add(
                driver.value.mark,
                Self.laterDrivers.contains(name)
                    ? "driver \(name) is not in this version; there are "
                        + names.joined(separator: ", ")
                    : Section.unknown(name, "driver", names))
            return nil
        }
        guard let section = Section(node, "the \(name) sensor", keys: known.keys, mistakes) else {
            return nil
        }
        mark = node.mark
        every =
            section.duration("every", .milliseconds(10)...Duration.seconds(86_400)) ?? .seconds(10)
        switch name {
        case "system":
            self.driver = .system(SystemSettings(disks: section.texts("disks", most: 16) ?? ["/"]))
        case "command":
            guard let run = section.texts("run"), let program = run.first, program.hasPrefix("/")
            else {
                section.add("run", "run must be a list that begins with the program's full path")
                return nil
            }
            self.driver = .command(
                CommandSettings(
                    run: run,
                    timeLimit: section.duration(
                        "time-limit", .milliseconds(10)...Duration.seconds(600))
                        ?? .seconds(10),
                    name: section.text("name", bytes: 1...63),
                    unit: section.text("unit", bytes: 1...16) ?? "1"))
        default:
            guard let file = section.text("file") else {
                section.add("file", "a replay sensor needs the key file")
                return nil
            }
            self.driver = .replay(
                ReplaySettings(file: file, speed: section.integer("speed", 1...1_000) ?? 1))
        }
    }
}
