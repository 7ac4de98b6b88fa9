import ArgumentParser
import FileTransfer
import Glibc
import Nearby
import NearbyCore
import NearbyLinux
import NodeShell

struct ReceiveFiles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive files that others nearby send with `rivulet send`.",
        discussion: """
            Anyone in the same network (--config), or who names the same --service, may send; \
            with --from, only those. A name is what a sender calls itself; a PeerID is proved.

            A file gets its name when it is whole, compared with the sender's SHA-256, and on the \
            disk. Until then it is in .rivulet-partial in the folder, and a transfer that breaks \
            off goes on from there; what nobody went on with for a week is removed. Senders cannot \
            choose a folder: of a path the last part counts, and a leading dot or hyphen becomes \
            an underscore. A name that is taken gets a number: `name (2)`.

            Standard output gets the path of each file, a line each. Ctrl-C ends it.

            Exit status: 0, 64 for a wrong command line, 66 for a folder that is not there, 69 \
            when the network cannot be used, 73 when a file cannot be stored with --once, 77 \
            without permission, 130 after Ctrl-C.
            """)

    @Option(help: "The folder; otherwise the current one.") var into = "."
    @Option(help: "Only from the sender of this name or PeerID; may be repeated.")
    var from: [String] = []
    @Flag(help: "End with the first file that is stored.") var once = false
    @Flag(help: "Replace files of the same name.") var overwrite = false
    @Flag(name: .shortAndLong, help: "Print paths only, and what went wrong.") var quiet = false
    @OptionGroup var choice: ServiceChoice

    func validate() throws {
        if from.contains("") {
            throw ValidationError("--from is empty: give a sender's name or PeerID")
        }
    }

    func run() throws {
        let (service, name) = try choice.made()
        let kept = try choice.peer(name, role: "receive")
        let order = ReceiveOrder(
            folder: into, senders: from, overwrites: overwrite, once: once, service: service)
        let display = ProgressDisplay(quiet: quiet)
        let receiver: FileReceiver
        do throws(TransferFault) {
            receiver = try FileReceiver(order, as: kept.peer) { Self.tell($0, display) }
        } catch {
            throw Failure(error)
        }
        display.say("receiving as \(name) (\(kept.peer.id)) into \(ReadableText.shown(into))")
        try Interruptible.run {
            display.finish()
        } _: { () async throws(TransferFault) -> Void in
            let watching = Task {
                while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                    display.show(receiver.active)
                }
            }
            defer {
                watching.cancel()
                display.finish()
            }
            try await receiver.run()
        }
    }

    private static func tell(_ news: ReceiveNews, _ display: ProgressDisplay) {
        switch news {
        case .began(let name, let peer, let count, let there):
            let rest = there > 0 ? ", \(ByteText.text(there)) are here already" : ""
            display.say("\(name) from \(shown(peer)), \(ByteText.text(count))\(rest)")
        case .stored(let path, let peer, let count):
            display.say("\(path) is complete, \(ByteText.text(count)) from \(shown(peer))")
            printPath(path)
        case .brokenOff(let name, let peer, let completed, let total):
            display.say(
                "\(name): \(shown(peer)) is gone; \(ByteText.text(completed)) of "
                    + "\(ByteText.text(total)) are kept for when it comes back")
        case .failed(let name, let peer, let reason):
            display.finish()
            complain("\(name) from \(shown(peer)): \(reason)")
        case .declined(let peer): display.say("declined: \(shown(peer)) (\(peer.id)) is not --from")
        case .trouble(let text):
            display.finish()
            complain(text)
        }
    }

    private static func shown(_ peer: Peer) -> String { ReadableText.shown(peer.displayName) }

    private static func printPath(_ path: String) {
        let bytes = Array((path + "\n").utf8)
        // Whoever reads may have gone away: the file is there all the same.
        _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
    }
}
