import ArgumentParser
import FileTransfer
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

struct SendFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a file to somebody nearby who runs `rivulet receive`.",
        discussion: """
            It goes over whatever link there is, encrypted, and over relays of the network where \
            there is none. Both sides are of one network (--config), or name the same --service:

                rivulet send photos.tar --to north
                rivulet send photos.tar --to laptop --service files

            A transfer that breaks off, by Ctrl-C, a power cut or a lost link, goes on where it \
            ended: by itself while both run, otherwise with the same command. It is done when the \
            receiver has compared the SHA-256 of the whole, and has the file on its disk.

            Exit status: 0, 64 for a wrong command line or two receivers of that name, 66 for a \
            file that is not there, 69 when nobody of that name receives files or it declines, 73 \
            when the receiver cannot store it (a full disk, for instance), 74 when reading fails, \
            75 when it broke off and goes on with the same command, or the file was changed, 77 \
            without permission, 130 after Ctrl-C.
            """)

    @Argument(help: "The file.") var file: String
    @Option(help: "The receiver's name, or its PeerID.") var to: String
    @Option(
        name: .customLong("as"), parsing: .unconditional,
        help: "Another name for the file, of at most 255 bytes.")
    var offered: String?
    @Option(
        parsing: .unconditional,
        help:
            "How long the receiver may take to appear, to answer, or to come back: 30s by default.",
        transform: Span.parse)
    var wait = Span(duration: .seconds(30))
    @Flag(name: .shortAndLong, help: "Say nothing but what went wrong.") var quiet = false
    @OptionGroup var choice: ServiceChoice

    func validate() throws {
        guard to != "" else { throw ValidationError("--to wants the receiver's name") }
        if let offered, !(1...255).contains(offered.utf8.count) {
            throw ValidationError("--as wants a name of 1 to 255 bytes")
        }
        guard Duration.seconds(1)...Duration.seconds(3_600) ~= wait.duration else {
            throw ValidationError("--wait wants a time from 1s to 1h")
        }
    }

    func run() throws {
        // What is not UTF-8 comes to Swift with this character in its place.
        if file.contains("\u{FFFD}"), access(file, F_OK) != 0 {
            throw Failure(
                "\(ReadableText.shown(file)): file names that are not valid UTF-8 are not "
                    + "supported here; rename the file, or make a link to it and send that",
                .noInput)
        }
        let (service, ownName) = try choice.made()
        let kept = try choice.peer(ownName, role: "send", hint: file)
        let name = offered ?? file.lastPathPart ?? file
        let order = SendOrder(
            file: file, name: name, target: to, service: service, patience: wait.duration)
        let display = ProgressDisplay(quiet: quiet)
        let teller = SendTeller(display, order)
        let began = MonotonicClock.now()
        let receipt = try Interruptible.run {
            display.finish()
            complain("interrupted; run the same command again to continue")
        } _: { () async throws(TransferFault) -> SentFile in
            do {
                return try await FileSender(order, as: kept.peer, tell: teller.tell).run()
            } catch let fault as TransferFault {
                display.finish()
                throw fault
            } catch {
                display.finish()
                throw TransferFault(.unavailable, "\(error)")
            }
        }
        display.finish()
        if !quiet { print(Self.summary(receipt, name, MonotonicClock.now() - began)) }
    }

    private static func summary(_ receipt: SentFile, _ name: String, _ time: Duration) -> String {
        let seconds = max(Double(time / .milliseconds(1)) / 1_000, 0.001)
        let rate = Int64(Double(receipt.sentByteCount) / seconds)
        let stored = receipt.name == name ? "" : ", stored there as \(receipt.name)"
        let receiver = ReadableText.shown(receipt.receiver.displayName)
        return "\(ReadableText.shown(name)) sent to \(receiver)\(stored): "
            + "\(ByteText.text(receipt.byteCount)), \(ByteText.clock(seconds: Int64(seconds))), "
            + "\(ByteText.text(rate))/s"
    }
}

/// Says what happens while a file is sent.
private struct SendTeller: Sendable {
    let display: ProgressDisplay
    let order: SendOrder

    init(_ display: ProgressDisplay, _ order: SendOrder) {
        self.display = display
        self.order = order
    }

    func tell(_ news: SendNews) {
        switch news {
        case .looking: display.say("looking for \(ReadableText.shown(order.target))")
        case .asking(let peer):
            display.say("asking \(ReadableText.shown(peer.displayName)) (\(peer.id))")
        case .resumed(let count): display.say("\(ByteText.text(count)) are there already")
        case .progress(let completed, let total):
            display.show([
                ActiveFile(name: order.name, sender: "", completed: completed, total: total)
            ])
        case .brokenOff(let reason): display.say("\(reason); waiting for it to come back")
        case .namesake(let other, let chosen):
            display.say(
                "another receiver of this name has come, \(other.id); the file goes to "
                    + "\(chosen.id), which was there first")
        }
    }
}
