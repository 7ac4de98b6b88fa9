import Sampling
import Telemetry

extension Measurement {
    /// `channel unit value`, or the null's reason in place of the value.
    var text: String {
        switch outcome {
        case .value(let value): "\(channel) \(unit) \(value)"
        case .null(let reason): "\(channel) \(unit) null:\(reason)"
        }
    }
}
