import CGPIOD
import Glibc
import NearbyCore
import Sampling

/// A line that is ours until this is released.
///
/// Its calls are system calls on one descriptor and share nothing else but where `read` puts its
/// events, which only the logic thread calls: they may run at once.
final class LineRequest: @unchecked Sendable {
    enum Use: Equatable, Sendable {
        case input
        /// Readable when there are edges.
        case edges(LineEdges)
        case output(initial: Bool)
    }

    struct Fault: Error, Equatable { let code: Int32 }

    /// An edge as the kernel wrote it down.
    struct Event: Equatable, Sendable {
        var isRising: Bool
        /// CLOCK_MONOTONIC.
        var nanoseconds: Int64
        /// From 1, of this line; those that are missing were lost. 0: the library does not number.
        var number: UInt32
    }

    /// Whether the kernel debounces (libgpiod 2.x).
    static var debounces: Bool { cgpiod_debounces() }

    /// How many edges the kernel keeps where it does not number them (libgpiod 1.x): what comes
    /// beyond is lost without a trace. Nil: they are numbered.
    static var unnumberedQueue: Int? { cgpiod_debounces() ? nil : 16 }

    private let request: UnsafeMutablePointer<cgpiod_request>

    /// `debounce` is the kernel's, where it does that.
    init(
        _ line: FoundLine, for use: Use, bias: LineBias, isActiveLow: Bool, debounce: Duration,
        consumer: String
    ) throws(Fault) {
        var wish = cgpiod_wish()
        switch use {
        case .input: wish.use = Int32(CGPIOD_INPUT.rawValue)
        case .edges(.rising): wish.use = Int32(CGPIOD_RISING.rawValue)
        case .edges(.falling): wish.use = Int32(CGPIOD_FALLING.rawValue)
        case .edges(.both): wish.use = Int32(CGPIOD_BOTH.rawValue)
        case .output(let initial):
            wish.use = Int32(CGPIOD_OUTPUT.rawValue)
            wish.initial = initial
        }
        switch bias {
        case .asIs: wish.bias = Int32(CGPIOD_AS_IS.rawValue)
        case .none: wish.bias = Int32(CGPIOD_NO_BIAS.rawValue)
        case .pullUp: wish.bias = Int32(CGPIOD_PULL_UP.rawValue)
        case .pullDown: wish.bias = Int32(CGPIOD_PULL_DOWN.rawValue)
        }
        wish.is_active_low = isActiveLow
        wish.debounce_us = UInt32(clamping: debounce.nanoseconds / 1_000)
        guard let request = cgpiod_request_new(line.path, line.line, consumer, &wish) else {
            throw Fault(code: errno)
        }
        self.request = request
    }

    deinit { cgpiod_request_release(request) }

    /// For `edges` only.
    var descriptor: Int32 { cgpiod_request_fd(request) }

    /// The logical level. It waits where the chip is behind a slow bus.
    func level() -> Result<Bool, Fault> {
        let level = cgpiod_request_level(request)
        return level < 0 ? .failure(Fault(code: errno)) : .success(level != 0)
    }

    func set(_ level: Bool) -> Result<Void, Fault> {
        cgpiod_request_set(request, level) < 0 ? .failure(Fault(code: errno)) : .success(())
    }

    /// The oldest edges that wait, at most 64; empty if there are none. Never blocks.
    func read() -> Result<[Event], Fault> {
        withUnsafeTemporaryAllocation(of: cgpiod_event.self, capacity: Int(CGPIOD_READ_MAX)) {
            buffer in
            let count = cgpiod_request_read(request, buffer.baseAddress)
            if count < 0 {
                let code = errno
                return code == EAGAIN || code == EINTR ? .success([]) : .failure(Fault(code: code))
            }
            return .success(
                buffer.prefix(Int(count)).map { event in
                    Event(
                        isRising: event.is_rising, nanoseconds: event.nanoseconds,
                        number: event.number)
                })
        }
    }
}
