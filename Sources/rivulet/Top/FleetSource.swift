import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Survey

/// Asks the collector for snapshots on a thread of its own: keys are taken while it is slow.
///
/// Once a second; a network so large that an answer takes long is asked for less often, so that
/// looking never takes more than a fifth of the time.
final class FleetSource: @unchecked Sendable {
    struct Answer: Sendable {
        var snapshot: FleetSnapshot
    }

    let answers: Mailbox<Result<Answer, Failure>>
    private let node: NodeSocket
    private let worker = WorkerPool(threads: 1, most: 1)
    // Touched on the worker only.
    private var query: StatusQuery?

    init(_ node: NodeSocket) throws(SystemError) {
        self.node = node
        answers = try Mailbox()
    }

    /// Goes on until the program ends.
    func ask() {
        _ = worker.run { [self] in
            while true {
                let begin = MonotonicClock.now()
                _ = answers.post(answer())
                let pause = max(.seconds(1), (MonotonicClock.now() - begin) * 4)
                usleep(useconds_t(clamping: pause.milliseconds * 1_000))
            }
        }
    }

    private func answer() -> Result<Answer, Failure> {
        do {
            let query = try query ?? node.query()
            self.query = query
            return .success(Answer(snapshot: try FleetAnswer.whole { try query.ask($0) }))
        } catch {
            // It may come back, on another socket.
            query = nil
            return .failure(Failure(error))
        }
    }
}
