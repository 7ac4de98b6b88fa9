import Testing

@testable import Configuration

struct StatusLEDSettingsTests {
    private func decoded(_ text: String) -> (StatusLEDSettings?, [String]) {
        let outcome = Settings.decode(Array("trust: any\n\(text)\n".utf8), file: "f")
        if case .good(let settings) = outcome { return (settings.statusLED, []) }
        return (nil, Sample.texts(outcome))
    }

    @Test func aLightOfTheBoardOrAPin() {
        #expect(decoded("name: a").0 == nil)
        #expect(decoded("status-led: {led: ACT}").0?.place == .led("ACT"))
        let pin = decoded("status-led: {pin: GPIO24, chip: '0', active: low}").0
        #expect(pin?.place == .pin("GPIO24", chip: "0"))
        #expect(pin?.isActiveLow == true)
    }

    @Test(
        arguments: [
            ("status-led: {}", "needs one of the keys led and pin"),
            ("status-led: {led: ACT, pin: GPIO24}", "needs one of the keys led and pin"),
            ("status-led: {led: /sys/class/leds/ACT}", "not a path"),
            ("status-led: {led: ACT}\nrole: collector", "leave it out here"),
            ("status-led: ACT", "must be a mapping"),
        ] as [(String, String)])
    func mistakes(_ text: String, _ expected: String) {
        let mistakes = decoded(text).1
        #expect(mistakes.contains { $0.contains(expected) }, "\(mistakes)")
    }
}
