import Foundation

// Linux's Foundation has no key-value observing, and programs follow a `Progress` with it. The
// words that they use for that, and nothing more.

/// What a change handler is told of; only `new` and `initial` make a difference here.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The new value: it is always told.
    public static let new = Self(rawValue: 1)
    /// The old value: it is always told.
    public static let old = Self(rawValue: 2)
    /// The handler is called for the value of now as well.
    public static let initial = Self(rawValue: 4)
    /// Makes no difference here.
    public static let prior = Self(rawValue: 8)
}

/// A value before and after it changed.
public struct NSKeyValueObservedChange<Value> {
    /// The value of now.
    public let newValue: Value?
    /// The value before; nil the first time.
    public let oldValue: Value?
}

/// An observation: it ends with `invalidate()`, or when nobody holds it.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
    private typealias Look = @Sendable () -> Void

    private let timer: any DispatchSourceTimer
    private let number: Int

    fileprivate init(
        of progress: Foundation.Progress, _ look: @escaping @Sendable () -> Void
    ) {
        timer = DispatchSource.makeTimerSource(queue: Self.queue)
        let observed = ObjectIdentifier(progress)
        number = Self.looks.with { looks in
            looks.last += 1
            looks.all[looks.last] = (observed, look)
            return looks.last
        }
        super.init()
        timer.schedule(deadline: .now(), repeating: .milliseconds(50))
        timer.setEventHandler(handler: look)
        timer.resume()
    }

    deinit { invalidate() }

    /// Ends it: the handler is not called any more.
    public func invalidate() {
        timer.cancel()
        Self.looks.with { $0.all[number] = nil }
    }

    private static let queue = DispatchQueue(label: "MCSession.progress")
    /// Of those that are valid: by their numbers, with what they observe.
    private static let looks = Guarded<(last: Int, all: [Int: (ObjectIdentifier, Look)])>((0, [:]))

    /// Returns when all that observe this `Progress` know its values of now: programs end their
    /// observation when they are told that the resource is there.
    static func catchUp(with progress: Foundation.Progress) async {
        let observed = ObjectIdentifier(progress)
        await queue.deliver {
            let all = looks.with { $0.all.filter { $0.value.0 == observed } }
            for (_, look) in all.sorted(by: { $0.key < $1.key }) { look.1() }
        }
    }
}

extension Foundation.Progress {
    /// Calls the handler, on a private queue, when a value has changed: it is read twenty times a
    /// second, and before the end of the resource is told.
    public func observe<Value: Equatable & Sendable>(
        _ keyPath: KeyPath<Foundation.Progress, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Foundation.Progress, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let path = Handed(value: keyPath)
        let handler = Handed(value: changeHandler)
        let last = Guarded<Value?>(options.contains(.initial) ? nil : self[keyPath: keyPath])
        return NSKeyValueObservation(of: self) { [self] in
            let value = self[keyPath: path.value]
            let old = last.with { last in
                defer { last = value }
                return last
            }
            guard old != value else { return }
            let change = NSKeyValueObservedChange(newValue: value, oldValue: old)
            let tell = handler.value
            tell(self, change)
        }
    }
}

extension NSObject {
    @available(
        *, unavailable,
        message: "Linux has no key-value observing: progress.observe(\\.fractionCompleted) { … }"
    )
    public func addObserver(
        _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) {}
}
