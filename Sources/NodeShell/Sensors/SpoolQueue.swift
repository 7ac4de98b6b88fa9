import AgentComposition
import DurableFiles
import NearbyCore
import NearbyLinux
import Spool
import Telemetry

/// The spool's calls, one after another on the worker threads; what comes of each is posted back.
final class SpoolQueue: @unchecked Sendable {
    typealias Job = Agent.SpoolJob
    typealias Answer = Agent.SpoolAnswer

    struct SpoolStatistics: Sendable {
        /// Bytes of the spool's files, and bytes written since the start.
        var onDisk = 0
        var written = 0
    }

    /// What a worker posts: an answer, and how large the spool was then.
    struct Message: Sendable {
        fileprivate let answer: Answer
        fileprivate let statistics: SpoolStatistics
    }

    let answers: Mailbox<Message>
    private let directory: String
    private let run: RunID
    private let settings: Spool.Settings
    private let workers: WorkerPool
    // Of the logic thread.
    private var waiting: [Job] = []
    private var isBusy = false
    // Touched by one job at a time.
    private var spool: Spool?

    /// Nil where none is wanted. Without a place for its own identity an agent has none for
    /// readings; and what a card brought along from another board is not ours to send.
    init?(_ program: NodeProgram) throws(SystemError) {
        let (settings, identity) = (program.settings, program.runner.identity)
        guard settings.journalSpool > 0, !identity.ephemeral else { return nil }
        directory = "\(settings.state)/spool/\(identity.peer)"
        run = program.run
        self.settings = Spool.Settings(bytesMax: settings.journalSpool)
        workers = program.workers
        answers = try Mailbox()
    }

    /// Bounded by what the telemeter asks for: one batch, a few blocks, one `forget` a receipt.
    func post(_ job: Job) {
        waiting.append(job)
        runNext()
    }

    /// To be called with each answer but `.opened`: the next job can begin.
    func finished() {
        isBusy = false
        runNext()
    }

    var isIdle: Bool { !isBusy && waiting.isEmpty }

    /// As of the message that was taken last.
    private(set) var statistics = SpoolStatistics()

    /// Each message that comes out of `answers` goes through here.
    func receive(_ message: Message) -> Answer {
        statistics = message.statistics
        return message.answer
    }

    private func runNext() {
        guard !isBusy, let job = waiting.first else { return }
        isBusy = workers.run { [self] in
            send(perform(job))
        }
        if isBusy { waiting.removeFirst() }
    }

    private func send(_ answer: Answer) {
        let statistics = spool.map {
            SpoolStatistics(onDisk: $0.byteCount, written: $0.bytesWritten)
        }
        // One job at a time: the mailbox is never full.
        _ = answers.post(Message(answer: answer, statistics: statistics ?? SpoolStatistics()))
    }

    private func perform(_ job: Job) -> Answer {
        do throws(FileError) {
            if spool == nil {
                let opened = try Spool.open(directory: directory, run: run, settings: settings)
                spool = opened.spool
                send(.opened(opened.runs, opened.previous, diagnostics: opened.diagnostics))
            }
            guard let spool else { return .done }
            switch job {
            case .open: return .done
            case .append(let birth, let blocks):
                let appended = try spool.append(birth: birth, blocks)
                return .appended(appended.places, evicted: appended.evicted)
            case .fetch(let stretch, let place):
                return .fetched(stretch, try spool.read(place))
            case .forget(let run, let unneeded):
                spool.forget(run, unneeded)
                return .done
            case .end(let lastSequence):
                try spool.recordEnd(lastSequence: lastSequence)
                return .done
            }
        } catch {
            return .failed(job, error.description)
        }
    }
}
