import CollectorConfiguration

/// Whom the rules of a configuration name: each target once, however many rules name it.
struct AlarmTargets {
    private typealias ConfiguredTarget = (settings: AlarmSettings.Target, target: AlarmTarget)

    /// By what tells them apart, from one start of the program to the next.
    private var targets: [String: ConfiguredTarget] = [:]
    /// The names of each rule's targets, in the order of the configuration.
    let ofRules: [[String]]

    init(_ alarms: [AlarmSettings] = []) {
        var known: [String: ConfiguredTarget] = [:]
        ofRules = alarms.map { alarm in
            alarm.targets.compactMap { settings in
                var name = settings.identity
                // Of the same address with another password, for instance.
                while let other = known[name], other.settings != settings { name += "+" }
                guard let target = AlarmTarget(settings) else { return nil }
                known[name] = known[name] ?? (settings, target)
                return name
            }
        }
        targets = known
    }

    /// These, and those of a former configuration.
    func with(_ former: AlarmTargets) -> AlarmTargets {
        var both = self
        both.targets.merge(former.targets) { own, _ in own }
        return both
    }

    var names: Set<String> { Set(targets.keys) }

    subscript(name: String) -> AlarmTarget? { targets[name]?.target }
}
