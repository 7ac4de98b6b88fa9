import NearbyCore
import Sampling
import Telemetry

/// VL53L0X: a single ranging a sample, of about 30 ms: ST's 33 ms less the two checks left out,
/// whose time is not given to the ranging as VL53L0X_SetMeasurementTimingBudget would.
///
/// Source: ST, VL53L0X API (UM2039, STSW-IMG005), whose steps the functions are named after; ST
/// does not document most registers otherwise. Its default settings are used: 2.8 V bus, up to
/// about 1.2 m. It is set up when it is first read, and again after it lost its power.
struct TimeOfFlightChip: I2CChip {
    let channels = [ExpectedChannel("distance", "mm")]
    /// Read while it was set up; it must be written before each ranging.
    private var stopVariable: UInt8?

    private enum Register {
        static let rangeStart: UInt8 = 0x00
        static let sequence: UInt8 = 0x01
        static let interruptKind: UInt8 = 0x0a
        static let interruptClear: UInt8 = 0x0b
        static let interruptStatus: UInt8 = 0x13
        static let result: UInt8 = 0x14
        static let signalChecks: UInt8 = 0x60
        static let interruptLevel: UInt8 = 0x84
        static let busVoltage: UInt8 = 0x89
        static let goodDiodes: UInt8 = 0xb0
        static let model: UInt8 = 0xc0
    }

    /// What the sequence of a ranging consists of: without two checks that it does by default.
    private static let sequence: UInt8 = 0xe8
    private static let model: UInt8 = 0xee
    private static let pollsMax = 45

    mutating func sample(_ bus: any I2CBus, now: Instant) throws(I2CFault) -> [Measurement] {
        // One pool of patience for all steps together.
        var polls = Self.pollsMax
        var known = stopVariable
        // After a loss of power it is 0xff.
        if try bus.read(Register.sequence) != Self.sequence { known = nil }
        let stop: UInt8
        if let known { stop = known } else { stop = try setUp(bus, &polls) }
        stopVariable = stop
        try select(bus, stop)
        try bus.write(Register.rangeStart, 1)
        try wait(bus, &polls) { bus throws(I2CFault) in try bus.read(Register.rangeStart) & 1 == 0 }
        try waitForResult(bus, &polls)
        let result = try bus.transfer([Register.result], read: 12)
        try bus.write(Register.interruptClear, 1)
        return [distance(result)]
    }

    mutating func restart() { stopVariable = nil }

    /// Status in bits 3–6 of the first byte, millimetres in the last two.
    private func distance(_ result: [UInt8]) -> Measurement {
        guard result.count == 12 else { return channels[0].null(.failed) }
        let millimetres = Int64(result[10]) << 8 | Int64(result[11])
        switch result[0] >> 3 & 0xf {
        case 11: break
        // The laser, its watchdog or the calibration; or no ranging was made
        // (VL53L0X_get_pal_range_status: "HW fail", "none").
        case 0...3, 5, 7, 12...15: return channels[0].null(.failed)
        // No target, one that sends too little back, or a phase or distance that cannot be.
        default: return channels[0].null(.outOfRange)
        }
        // 8,190 stands for too far.
        guard millimetres < 8_190 else { return channels[0].null(.outOfRange) }
        return channels[0].value(millimetres)
    }

    // MARK: Setting up

    /// DataInit, StaticInit and PerformRefCalibration; gives the stop variable.
    private func setUp(_ bus: any I2CBus, _ polls: inout Int) throws(I2CFault) -> UInt8 {
        let model = try bus.read(Register.model)
        guard model == Self.model else {
            throw I2CFault(
                reason: .failed,
                message: "the device is not a VL53L0X: its register 0xc0 is "
                    + "\(LinuxI2CBus.hexadecimal(Int(model))), not 0xee")
        }
        try bus.write(Register.busVoltage, try bus.read(Register.busVoltage) | 1)
        try bus.write(0x88, 0)
        let stop = try select(bus, nil)
        // Two checks of the signal's rate are off.
        try bus.write(Register.signalChecks, try bus.read(Register.signalChecks) | 0x12)
        try bus.write(Register.sequence, 0xff)
        try setReferenceDiodes(bus, &polls)
        for (register, value) in TimeOfFlightTuning.settings { try bus.write(register, value) }
        // The interrupt tells of a new result; its pin, which is not used, is low then.
        try bus.write(Register.interruptKind, 4)
        try bus.write(Register.interruptLevel, try bus.read(Register.interruptLevel) & ~0x10)
        try bus.write(Register.interruptClear, 1)
        // The voltage of the diodes, and the phase of the laser.
        try calibrate(bus, sequence: 0x01, start: 0x41, &polls)
        try calibrate(bus, sequence: 0x02, start: 0x01, &polls)
        try bus.write(Register.sequence, Self.sequence)
        return stop
    }

    /// Reads the stop variable, or writes it.
    @discardableResult
    private func select(_ bus: any I2CBus, _ stop: UInt8?) throws(I2CFault) -> UInt8 {
        try bus.write(0x80, 1)
        try bus.write(0xff, 1)
        try bus.write(0x00, 0)
        let value: UInt8
        if let stop {
            try bus.write(0x91, stop)
            value = stop
        } else {
            value = try bus.read(0x91)
        }
        try bus.write(0x00, 1)
        try bus.write(0xff, 0)
        try bus.write(0x80, 0)
        return value
    }

    /// Of the diodes that are good, as many as the factory found right are switched on.
    private func setReferenceDiodes(
        _ bus: any I2CBus, _ polls: inout Int
    ) throws(I2CFault) {
        let (count, first) = try readDiodes(bus, &polls)
        var map = try bus.transfer([Register.goodDiodes], read: 6)
        try bus.write(0xff, 1)
        try bus.write(0x4f, 0)
        try bus.write(0x4e, 0x2c)
        try bus.write(0xff, 0)
        try bus.write(0xb6, 0xb4)
        var enabled = 0
        for index in 0..<8 * map.count {
            let bit: UInt8 = 1 << UInt8(index % 8)
            if index < first || enabled == count {
                map[index / 8] &= ~bit
            } else if map[index / 8] & bit != 0 {
                enabled += 1
            }
        }
        _ = try bus.transfer([Register.goodDiodes] + map, read: 0)
    }

    /// How many reference diodes are wanted, and the first of their kind.
    private func readDiodes(
        _ bus: any I2CBus, _ polls: inout Int
    ) throws(I2CFault) -> (count: Int, first: Int) {
        for (register, value) in [(0x80, 1), (0xff, 1), (0x00, 0), (0xff, 6)] as [(UInt8, UInt8)] {
            try bus.write(register, value)
        }
        try bus.write(0x83, try bus.read(0x83) | 4)
        for (register, value) in [
            (0xff, 7), (0x81, 1), (0x80, 1), (0x94, 0x6b), (0x83, 0),
        ] as [(UInt8, UInt8)] {
            try bus.write(register, value)
        }
        try wait(bus, &polls) { bus throws(I2CFault) in try bus.read(0x83) != 0 }
        try bus.write(0x83, 1)
        let diodes = try bus.read(0x92)
        try bus.write(0x81, 0)
        try bus.write(0xff, 6)
        try bus.write(0x83, try bus.read(0x83) & ~4)
        for (register, value) in [(0xff, 1), (0x00, 1), (0xff, 0), (0x80, 0)] as [(UInt8, UInt8)] {
            try bus.write(register, value)
        }
        return (Int(diodes & 0x7f), diodes & 0x80 != 0 ? 12 : 0)
    }

    private func calibrate(
        _ bus: any I2CBus, sequence: UInt8, start: UInt8, _ polls: inout Int
    ) throws(I2CFault) {
        try bus.write(Register.sequence, sequence)
        try bus.write(Register.rangeStart, start)
        try waitForResult(bus, &polls)
        try bus.write(Register.interruptClear, 1)
        try bus.write(Register.rangeStart, 0)
    }

    private func waitForResult(_ bus: any I2CBus, _ polls: inout Int) throws(I2CFault) {
        try wait(bus, &polls) { bus throws(I2CFault) in
            try bus.read(Register.interruptStatus) & 7 != 0
        }
    }

    private func wait(
        _ bus: any I2CBus, _ polls: inout Int,
        until isDone: (any I2CBus) throws(I2CFault) -> Bool
    ) throws(I2CFault) {
        while try !isDone(bus) {
            polls -= 1
            guard polls > 0 else {
                throw I2CFault(
                    reason: .timeout,
                    message: "the VL53L0X does not come to an end; it is set up anew")
            }
            bus.pause(milliseconds: 2)
        }
    }
}
