import Alarms
import CollectorConfiguration
import Fleet

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

extension AlarmNotifier.Plan {
    init(_ settings: CollectorSettings, _ targets: AlarmTargets) {
        self.init()
        rules = settings.alarms.map(AlarmRule.init)
        words = FleetWords(settings.agents)
        targetsOfRules = targets.ofRules
    }
}
