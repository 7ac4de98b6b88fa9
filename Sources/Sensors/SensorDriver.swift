import NearbyCore
import Sampling
import Telemetry

/// Reads one sensor, or a group that is read together. It may block: it runs on a worker, one call
/// at a time.
public protocol SensorDriver: AnyObject, Sendable {
    /// For people and for messages: the driver and what it reads.
    var name: String { get }
    /// One measurement of each of its channels. What cannot be read is a null with its reason,
    /// never an old value.
    func sample() -> [Measurement]
    /// What `rivulet status` should say beside the name, such as how many lines were bad. Asked on
    /// the logic thread: it must not wait for a sample that hangs.
    var diagnostic: String? { get }
    /// Why the last sample has no value, beyond the reason that its nulls have; nil where there is
    /// nothing to add. Asked on the logic thread too.
    var fault: String? { get }
}

extension SensorDriver {
    public var diagnostic: String? { nil }
    public var fault: String? { nil }
}

/// A sensor that also speaks by itself, through a descriptor: an edge of a line, a serial port.
///
/// `sample` is still asked once a period, on a worker: it opens what is not open, and gives what
/// holds now, or nulls. Only `receive` and `finish` close.
public protocol EventDriver: SensorDriver {
    /// Readable when there is news; nil while nothing is open.
    var descriptor: Int32? { get }
    /// What has come. Called on the logic thread when the descriptor is readable or has failed;
    /// never blocks.
    func receive(now: Instant) -> [Measurement]
    /// The sensor is no longer used, though a sample may be under way: what should outlast it goes
    /// to disk, and what others may want is let go. May block; called once, the last of all.
    func finish()
}

extension EventDriver {
    public func finish() {}
}

/// A sensor that hears what others advertise over Bluetooth LE.
///
/// `sample` is still asked once a period, on a worker: it says what became of those that fell
/// silent.
public protocol AdvertisementDriver: SensorDriver {
    /// Whose advertisements it takes, the first written byte in bits 40–47; nil: those of whom no
    /// other driver names.
    var address: UInt64? { get }
    /// One advertisement's data (Bluetooth Core, Vol 3, Part C, §11), as received; signal strength
    /// in dBm. Called on the logic thread.
    func receive(
        _ data: [UInt8], from address: AdvertiserAddress, signal: Int8, now: Instant
    ) -> [Measurement]
    /// The sensor is no longer used: what should outlast it goes to disk. May block; called once,
    /// the last of all.
    func finish()
}
