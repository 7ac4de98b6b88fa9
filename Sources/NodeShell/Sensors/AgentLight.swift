import Boards
import Configuration
import NearbyCore
import NearbyLinux
import Sensors

/// The status LED on the event loop.
final class AgentLight {
    private let light: StatusLED
    private let loop: EventLoop
    private var timer: EventLoop.TimerID?

    init(_ settings: StatusLEDSettings, pins: BoardPins, loop: EventLoop) {
        let place: StatusLED.Place =
            switch settings.place {
            case .led(let name): .led(name)
            case .pin(let pin, let chip):
                .line(.pin(pin, chip: chip), isActiveLow: settings.isActiveLow)
            }
        light = StatusLED(place, header: { pins.place(of: $0) })
        self.loop = loop
        timer = loop.addTimer { [unowned self] now in
            light.advance(now: now)
            arm()
        }
    }

    /// What is wrong with it; nil: nothing.
    var diagnostic: String? { light.diagnostic }

    func show(_ state: StatusLED.State) {
        light.show(state, now: MonotonicClock.now())
        arm()
    }

    func finish() { light.finish() }

    private func arm() { if let timer { loop.set(timer, to: light.nextDeadline) } }
}
