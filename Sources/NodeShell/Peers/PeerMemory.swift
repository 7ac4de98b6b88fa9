import DurableFiles
import NearbyCore
import NearbyLinux

extension Limits {
    /// From a change of the remembered peers until it is written: what comes with it goes along.
    static let peersWriteDelay = Duration.seconds(10)
    /// Between two times that they are written: memory cards wear out.
    static let peersWriteInterval = Duration.seconds(300)
}

/// The remembered peers and their file, `peers` in the state directory. Written on a worker,
/// seldom, and at the end of the run; a file that cannot be read is told and passed over.
final class PeerMemory {
    private(set) var peers = RememberedPeers()
    /// Called when there are others than before, as often as they are written.
    private var onNews: (() -> Void)?
    private let path: String
    private let loop: EventLoop
    private let log: StandardErrorLog
    private let workers: WorkerPool
    /// nil: what was written is on disk.
    private let answers: Mailbox<FileError?>
    private var timer: EventLoop.TimerID?
    private var isChanged = false
    private var isWriting = false
    private var isFinishing = false
    private var writtenAt: Instant?
    private var fault: FileError?

    init(
        _ directory: String, _ loop: EventLoop, _ log: StandardErrorLog, _ workers: WorkerPool
    ) throws(SystemError) {
        path = directory + "/peers"
        (self.loop, self.log, self.workers) = (loop, log, workers)
        answers = try Mailbox(capacity: 1)
        try loop.register(answers) { [unowned self] in written($0) }
        timer = loop.addTimer { [unowned self] in write($0) }
        load()
    }

    /// Has a node try these peers, and remembers those that it admits.
    func serve(_ runner: NodeRunner) {
        runner.onAdmitted = { [unowned self] in remember($0, at: $1, now: $2) }
        onNews = { [unowned self, unowned runner] in
            runner.tryRememberedPeers(at: peers.entries.map(\.address))
        }
        onNews?()
    }

    private func remember(_ peer: PeerID, at address: AddressText, now: Instant) {
        guard peers.remember(.init(peer: peer, address: address)) else { return }
        isChanged = true
        plan(now)
    }

    /// At the end: what is not on disk yet goes there, within two seconds.
    func finish() {
        isFinishing = true
        let end = MonotonicClock.now() + .seconds(2)
        write(MonotonicClock.now())
        while isWriting, MonotonicClock.now() < end {
            guard (try? loop.run(until: end)) != nil else { return }
        }
    }

    private func load() {
        do {
            let bytes = try AtomicFile.read(
                path, limit: Limits.rememberedBytesMax, through: SystemFiles())
            if let bytes { peers = try RememberedPeers(parsing: bytes) }
        } catch {
            log.write(
                .warning, "\(path): the remembered peers are not used, and written anew: \(error)")
        }
    }

    private func plan(_ now: Instant) {
        guard isChanged, !isWriting, let timer else { return }
        let earliest = writtenAt.map { $0 + Limits.peersWriteInterval } ?? now
        loop.set(timer, to: max(now + Limits.peersWriteDelay, earliest))
    }

    private func write(_ now: Instant) {
        guard isChanged, !isWriting else { return }
        let (path, bytes, answers) = (path, peers.bytes, answers)
        isWriting = workers.run {
            do throws(FileError) {
                try AtomicFile.write(bytes, to: path, permissions: 0o600, through: SystemFiles())
                _ = answers.post(nil)
            } catch {
                _ = answers.post(error)
            }
        }
        isChanged = !isWriting
        writtenAt = now
        onNews?()
    }

    private func written(_ error: FileError?) {
        isWriting = false
        if let error, error != fault {
            log.write(.warning, "the peers of this run are not remembered: \(error)")
        }
        fault = error
        guard isFinishing else { return plan(MonotonicClock.now()) }
        write(MonotonicClock.now())
        loop.stop()
    }
}
