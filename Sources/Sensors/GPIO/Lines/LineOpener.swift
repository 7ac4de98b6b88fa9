import Glibc
import NearbyCore

/// A line that is ours, and what to wait for it with; nil where nothing is waited for.
struct OpenLine: Sendable {
    var request: LineRequest
    var wait: LineWait?
}

/// Looks for a sensor's line and asks the kernel for it.
struct LineOpener: Sendable {
    let settings: GPIODriver.Settings
    let header: HeaderPins
    /// The folder of the chips' devices.
    let devices: String

    /// How long to debounce here, because nobody else does.
    var debounce: Duration { LineRequest.debounces ? .zero : settings.debounce }

    /// Blocks for a second at most, where the sensor of before still holds the line after a reload.
    func open() -> Result<OpenLine, LineFault> {
        let search = LineSearch(chips: GPIOChips(in: devices), header: header)
        return search.find(settings.line).flatMap(request)
    }

    private func request(_ line: FoundLine) -> Result<OpenLine, LineFault> {
        let edges = settings.mode.edges(debouncing: debounce > .zero)
        let deadline = Clocks.read().now + .seconds(1)
        while true {
            do throws(LineRequest.Fault) {
                let request = try LineRequest(
                    line, for: edges.map { .edges($0) } ?? .input, bias: settings.bias,
                    isActiveLow: settings.isActiveLow, debounce: settings.debounce,
                    consumer: consumer)
                guard edges != nil else { return .success(OpenLine(request: request)) }
                guard let wait = LineWait(for: request) else {
                    return .failure(LineFault(line, LineRequest.Fault(code: errno), holder: nil))
                }
                return .success(OpenLine(request: request, wait: wait))
            } catch {
                // Looked at again: who held it a moment ago may not hold it now.
                let chip = try? GPIOChip.read(line.path).get()
                let holder = chip?.lines.dropFirst(Int(line.line)).first?.holder
                let fault = LineFault(line, error, holder: holder)
                guard fault.reason == .busy, holder == consumer, Clocks.read().now < deadline
                else { return .failure(fault) }
                usleep(20_000)
            }
        }
    }

    /// What gpioinfo shows; the kernel keeps 31 bytes.
    private var consumer: String {
        String(decoding: "rivulet \(settings.name)".utf8.prefix(31), as: UTF8.self)
    }
}
