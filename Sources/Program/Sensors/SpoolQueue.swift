import DurableFiles
import NearbyCore
import NearbyLinux
import Spool
import Telemetry

/// The spool's calls, one after another on the worker threads; what comes of each is posted back.
final class SpoolQueue: @unchecked Sendable {
    enum Job: Sendable {
        case open
        case append(birth: [UInt8], [SpoolBlock])
        case fetch(RunRange, SpoolPlace)
        case forget(RunID, NumberRanges)
        /// The run ends in order, with this number.
        case end(lastSequence: UInt64)
    }

    enum Answer: Sendable {
        /// Beside the answer of the job that came first.
        case opened([SpooledRun], PreviousRun?, notices: [String])
        case appended(Spool.Appended)
        case fetched(RunRange, [UInt8]?)
        case done
        case failed(Job, String)
    }

    struct Statistics: Sendable {
        /// Bytes of the spool's files, and bytes written since the start.
        var onDisk = 0
        var written = 0
    }

    /// What a worker posts: an answer, and how large the spool was then.
    struct Message: Sendable {
        fileprivate let answer: Answer
        fileprivate let statistics: Statistics
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

    init(
        directory: String, run: RunID, bytesMax: Int, workers: WorkerPool
    ) throws(SystemError) {
        self.directory = directory
        self.run = run
        settings = Spool.Settings(bytesMax: bytesMax)
        self.workers = workers
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
    private(set) var statistics = Statistics()

    /// Each message that comes out of `answers` goes through here.
    func take(_ message: Message) -> Answer {
        statistics = message.statistics
        return message.answer
    }

    private func runNext() {
        guard !isBusy, !waiting.isEmpty else { return }
        let job = waiting.removeFirst()
        isBusy = workers.run { [self] in
            send(perform(job))
        }
        if !isBusy { waiting.insert(job, at: 0) }
    }

    private func send(_ answer: Answer) {
        let statistics = spool.map { Statistics(onDisk: $0.byteCount, written: $0.bytesWritten) }
        // One job at a time: the mailbox is never full.
        _ = answers.post(Message(answer: answer, statistics: statistics ?? Statistics()))
    }

    private func perform(_ job: Job) -> Answer {
        do throws(FileError) {
            if spool == nil {
                let opened = try Spool.open(directory: directory, run: run, settings: settings)
                spool = opened.spool
                send(.opened(opened.runs, opened.previous, notices: opened.notices))
            }
            guard let spool else { return .done }
            switch job {
            case .open: return .done
            case .append(let birth, let blocks):
                return .appended(try spool.append(birth: birth, blocks))
            case .fetch(let stretch, let place):
                return .fetched(stretch, try spool.read(place))
            case .forget(let run, let unneeded):
                spool.forget(run, unneeded)
                return .done
            case .end(let lastSequence):
                try spool.noteEnd(lastSequence: lastSequence)
                return .done
            }
        } catch {
            return .failed(job, error.description)
        }
    }
}
