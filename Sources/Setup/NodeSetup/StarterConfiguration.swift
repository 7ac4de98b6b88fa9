import Configuration
import NearbyCore
import NearbyLinux

/// The configuration that a node begins with: short, valid, and for people to go on from.
struct StarterConfiguration {
    var name: String
    var network: String
    var role: ConfiguredRole
    var places: Places
    var collectors: [PeerID] = []
    var peers: [TransportAddress] = []
    /// `sensors:` and what was found, as `rivulet sensors` prints it; of agents only.
    var sensors = ""

    var text: String {
        let parts = [head, identity, collectorList, links, role == .agent ? sensors : ""]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var head: String {
        var lines = ["Made by `rivulet init`, and yours to edit."]
        if places.isSystem, let service = SystemdUnit(role) {
            lines += [
                "`rivulet check --here` names mistakes, and",
                "`systemctl restart \(service.name)` takes up what changed.",
            ]
            if role == .agent {
                lines.append("`rivulet init --devices` lets the service open new sensors.")
            }
        } else {
            let file = Places.shellWord(places.configuration)
            lines.append("`rivulet check --here \(file)` names mistakes.")
        }
        return lines.map { "# \($0)\n" }.joined()
    }

    private var identity: String {
        """
        name: \(Self.quoted(name))
        network: \(Self.quoted(network))
        role: \(role.rawValue)
        secret-file: \(Self.quoted(places.secret))
        state: \(Self.quoted(places.state))
        control: \(Self.quoted(places.control))

        """
    }

    private var collectorList: String {
        guard !collectors.isEmpty else { return "" }
        return "# Readings go to these only; a new collector has to be added on every node.\n"
            + "collectors:\n" + collectors.map { "  - \($0)\n" }.joined()
    }

    private var links: String {
        guard peers.isEmpty else {
            let list = peers.map { "\"\(AddressText(address: $0))\"" }.joined(separator: ", ")
            return "# Tried too, where multicast does not reach.\nlinks:\n"
                + "  udp: {peers: [\(list)]}\n"
        }
        guard role == .collector else { return "" }
        return """
            # With a fixed port, the line of `rivulet init --show` has this machine's addresses,
            # for boards that multicast does not reach.
            # links: {udp: {port: 4577}}

            """
    }

    /// As YAML reads it back: in quotation marks where it could be something else (YAML 1.1 §5.7).
    static func quoted(_ text: String) -> String {
        let isWord = text.first.map { $0.isLetter || $0 == "/" } == true
        if isWord, Places.isPlain(text) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
