import Alarms
import CollectorConfiguration

extension AlarmRule {
    init(_ settings: AlarmSettings) {
        let condition: Condition =
            switch settings.condition {
            case .above(let limit): .above(limit, hysteresis: settings.hysteresis)
            case .below(let limit): .below(limit, hysteresis: settings.hysteresis)
            case .failing: .failing
            case .silent: .silent
            }
        self.init(
            name: settings.name, node: settings.node, channel: settings.channel,
            condition: condition, hold: settings.hold,
            isPublished: settings.targets.contains(.mqtt))
    }
}
