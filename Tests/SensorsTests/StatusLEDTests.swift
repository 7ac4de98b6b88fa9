import NearbyCore
import Testing

@testable import Sensors

struct StatusLEDTests {
    private let folder = TemporaryFolder()

    private func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    private func light(_ name: String = "ACT") -> StatusLED {
        folder.write("ACT/trigger", "none kbd-scrolllock [mmc0] timer heartbeat")
        folder.write("ACT/brightness", "0")
        return StatusLED(.led(name), leds: folder.path)
    }

    private func text(_ name: String) -> String? {
        try? SensorFile.read(folder.path + "/ACT/" + name, limit: 100).get()
    }

    /// A file keeps what is behind what was written; sysfs does not.
    private var isLit: Bool? { text("brightness").map { $0.hasPrefix("2") } }

    @Test func itBlinksWhileItSearches() {
        let light = light()
        light.show(.searching, now: at(10_000))
        #expect(isLit == true)
        #expect(text("trigger")?.hasPrefix("none") == true)
        #expect(light.nextDeadline == at(10_500))
        light.advance(now: at(10_300))
        #expect(isLit == true, "too early is harmless")
        light.advance(now: at(10_500))
        #expect(isLit == false)
        #expect(light.nextDeadline == at(11_000))
        light.show(.searching, now: at(10_700))
        #expect(light.nextDeadline == at(11_000), "the same again changes no rhythm")
        light.advance(now: at(13_100))
        #expect(isLit == true)
        #expect(light.diagnostic == nil)
    }

    @Test func itIsSteadyWhenConnected() {
        let light = light()
        light.show(.starting, now: at(0))
        #expect(light.nextDeadline == at(100))
        light.advance(now: at(100))
        #expect(isLit == false)
        #expect(light.nextDeadline == at(1_000))
        light.show(.connected, now: at(200))
        #expect(isLit == true)
        #expect(light.nextDeadline == nil)
        light.show(.fault, now: at(300))
        light.advance(now: at(400))
        #expect(isLit == false)
        #expect(light.nextDeadline == at(500))
    }

    @Test func theKernelGetsItBack() {
        let light = light()
        light.show(.connected, now: at(0))
        #expect(text("trigger")?.hasPrefix("none") == true)
        light.finish()
        #expect(isLit == false)
        #expect(text("trigger")?.hasPrefix("mmc0") == true)
        #expect(light.nextDeadline == nil)
    }

    @Test(arguments: ["PWR", "../ACT", "", "."])
    func aLightThatIsNotThereIsTriedAgainLater(_ name: String) {
        let light = light(name)
        light.show(.connected, now: at(0))
        #expect(light.diagnostic == "there is no light \(name) in \(folder.path)")
        #expect(light.nextDeadline == at(10_000))
        guard name == "PWR" else { return }
        folder.write("PWR/brightness", "0")
        light.advance(now: at(9_999))
        #expect(light.diagnostic != nil)
        light.advance(now: at(10_000))
        #expect(light.diagnostic == nil)
        #expect(light.nextDeadline == nil)
    }

    @Test func aLineThatIsNotThereIsTold() {
        let light = StatusLED(
            .line(.pin("GPIO17", chip: nil), isActiveLow: false), devices: folder.path)
        light.show(.connected, now: at(0))
        #expect(light.diagnostic?.hasPrefix("there is no GPIO chip here") == true)
        light.finish()
    }

    @Test(arguments: [
        StatusLED.State.starting, .searching, .connected, .fault,
    ])
    func aRhythmChangesWhenItSays(_ state: StatusLED.State) {
        let pattern = LEDPattern(state: state, began: at(5_000))
        var now = at(5_000)
        #expect(pattern.isLit(at: now))
        for _ in 0..<100 {
            guard let next = pattern.nextChange(after: now) else {
                #expect(state == .connected)
                return
            }
            #expect(next > now)
            #expect(pattern.isLit(at: next) != pattern.isLit(at: now))
            #expect(
                pattern.isLit(at: Instant(nanoseconds: next.nanoseconds - 1))
                    == pattern.isLit(at: now))
            now = next
        }
    }
}
