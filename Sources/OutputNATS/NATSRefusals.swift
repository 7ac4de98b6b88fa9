import CNATS
import Outputs
import Synchronization

/// What servers did not take of a batch: said on the library's own thread.
final class NATSRefusals: Sendable {
    private struct State {
        /// Readings too large for the stream.
        var refusedCount = 0
        var refusal: String?
        /// The first that concerns more than one reading.
        var fault: (kind: OutputFault.Kind, text: String)?
    }

    private let state = Mutex(State())

    func clear() { state.withLock { $0 = State() } }

    func add(_ error: jsPubAckErr) {
        let code = Int32(bitPattern: error.ErrCode.rawValue)
        let said = error.ErrText.map { String(cString: $0) } ?? NATSConnection.text(error.Err)
        state.withLock { state in
            if code == NATSErrorCode.messageTooLarge {
                state.refusedCount += 1
                state.refusal = state.refusal ?? said
            } else if state.fault == nil {
                let (kind, advice) = NATSErrorCode.meaning(of: code)
                state.fault = (kind, said + (advice.isEmpty ? "" : "; \(advice)"))
            }
        }
    }

    func receipt(_ place: String) throws(OutputFault) -> OutputReceipt {
        let state = state.withLock { $0 }
        if let (kind, text) = state.fault { throw OutputFault(kind, "\(place): \(text)") }
        return OutputReceipt(refusedCount: state.refusedCount, refusal: state.refusal)
    }
}
