import NearbyCore
import NearbyDTLS
import NearbyLinux

/// A rogue that is a neighbour of the node that it attacks.
final class Member {
    let shell: Shell
    let network: Network
    let channel: RogueChannel
    let options: Options

    /// With `state=` its identity is kept in that folder, for another attack; with `anchors=` and
    /// `certificate=` an authority has signed it.
    init(_ options: Options) throws {
        let shell = try Shell()
        let target = try options.target()
        let (state, anchors) = (options.text("state", or: ""), options.text("anchors", or: ""))
        network = try Network(options)
        var identity =
            state.isEmpty
            ? .makeEphemeral() : try NodeIdentity.load(stateDirectory: state, rule: .makeNew)
        if !anchors.isEmpty {
            identity = identity.certified(
                by: try Authority.load(
                    anchors: anchors, certificate: options.text("certificate", or: ""),
                    for: identity))
        }
        channel = RogueChannel(
            network, as: identity,
            role: try options.role(), name: options.text("name", or: "rogue")
        ) { shell.send($0, to: target) }
        self.shell = shell
        self.options = options
    }

    /// Opens the channel, attacks once it is open, and leaves when the time is up without a word.
    func attack(_ body: @escaping (Instant) -> Void) throws {
        shell.onDatagram = { [unowned self] bytes, _ in
            channel.receive(bytes, MonotonicClock.now())
        }
        channel.onOpen = { [unowned self] now in
            say("admitted by \(channel.terms?.name ?? "somebody") as \(channel.identity.ownPeer)")
            body(now)
        }
        channel.begin(MonotonicClock.now())
        shell.every(.milliseconds(10)) { [unowned self] in channel.tick($0) }
        try shell.run(for: try options.duration())
        guard channel.terms != nil else { throw RogueError("was not admitted") }
        say("sent \(shell.sentByteCount) bytes")
    }
}
