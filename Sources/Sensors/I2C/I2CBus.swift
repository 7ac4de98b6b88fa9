import CLinux
import Glibc
import Telemetry

/// One device on an I²C bus: the seam at which tests play recorded traffic.
protocol I2CBus: AnyObject {
    /// Writes, then reads so many bytes after a repeated start; either may be nothing.
    func transfer(_ written: [UInt8], read count: Int) throws(I2CFault) -> [UInt8]
    /// Lets the device work.
    func pause(milliseconds: Int)
}

extension I2CBus {
    func write(_ bytes: UInt8...) throws(I2CFault) { _ = try transfer(bytes, read: 0) }

    /// A register of one byte.
    func read(_ register: UInt8) throws(I2CFault) -> UInt8 {
        try transfer([register], read: 1).first ?? 0
    }
}

/// Why a device could not be read.
struct I2CFault: Error, Equatable, Sendable {
    var reason: NullReason
    /// What happened, where, and what to do about it.
    var message: String
}

/// A device through /dev/i2c-N: plain I²C where the adapter does it, otherwise SMBus commands.
///
/// Source: the kernel's Documentation/i2c/dev-interface.rst.
final class LinuxI2CBus: I2CBus {
    private let file: Int32
    private let bus: Int
    private let address: Int
    private let isPlain: Bool

    /// `root` is where /dev and /sys are looked up; tests give another.
    init(bus: Int, address: Int, root: String = "") throws(I2CFault) {
        self.bus = bus
        self.address = address
        let path = "\(root)/dev/i2c-\(bus)"
        file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Self.fault(opening: path, errno) }
        let kind = clinux_i2c_is_plain(file)
        isPlain = kind == 1
        guard kind >= 0, clinux_i2c_set_address(file, Int32(address)) >= 0 else {
            // The descriptor is closed with the object, which exists by now.
            throw Self.fault(claiming: address, bus, errno, root: root)
        }
    }

    deinit { if file >= 0 { close(file) } }

    func transfer(_ written: [UInt8], read count: Int) throws(I2CFault) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        let code =
            isPlain
            ? clinux_i2c_transfer(
                file, Int32(address), written, Int32(written.count), &result, Int32(count))
            : clinux_smbus_transfer(file, written, Int32(written.count), &result, Int32(count))
        guard code >= 0 else { throw fault(errno) }
        return result
    }

    func pause(milliseconds: Int) { usleep(UInt32(clamping: milliseconds) &* 1_000) }

    private static func fault(opening path: String, _ code: Int32) -> I2CFault {
        switch code {
        case ENOENT, ENODEV, ENXIO, ENOTDIR:
            I2CFault(
                reason: .absent,
                message: "\(path) is not there; switch the bus on with dtparam=i2c_arm=on in "
                    + "config.txt or raspi-config, and load i2c-dev; `i2cdetect -l` shows the "
                    + "buses")
        case EACCES, EPERM:
            I2CFault(
                reason: .denied,
                message: SensorFile.denial(path, code, group: "i2c"))
        default: I2CFault(reason: .failed, message: "\(path): \(text(code))")
        }
    }

    private static func fault(
        claiming address: Int, _ bus: Int, _ code: Int32, root: String
    ) -> I2CFault {
        let place = "\(hexadecimal(address)) on I2C bus \(bus)"
        guard code == EBUSY else {
            return I2CFault(reason: .failed, message: "\(place): \(text(code))")
        }
        let driver = kernelDriver(address, bus, root: root) ?? "of the kernel"
        return I2CFault(
            reason: .denied,
            message: "\(place) belongs to the kernel's driver \(driver); read it with driver: iio "
                + "or driver: hwmon, or unbind that driver")
    }

    private func fault(_ code: Int32) -> I2CFault {
        let place = "\(Self.hexadecimal(address)) on I2C bus \(bus)"
        switch code {
        case EREMOTEIO, ENXIO, ENODEV:
            return I2CFault(
                reason: .absent,
                message: "nothing answers at \(place); check the wires, the power and the "
                    + "address: `i2cdetect -y \(bus)` shows who is there")
        case ETIMEDOUT:
            return I2CFault(
                reason: .timeout,
                message: "\(place): the bus is held down; check the wires and the pull-ups")
        case EOPNOTSUPP, EMSGSIZE:
            return I2CFault(
                reason: .failed,
                message: "\(place): this adapter does SMBus commands only, and the device needs "
                    + "more")
        default: return I2CFault(reason: .failed, message: "\(place): \(Self.text(code))")
        }
    }

    /// Which driver the device is bound to.
    static func kernelDriver(_ address: Int, _ bus: Int, root: String = "") -> String? {
        let digits = String(address, radix: 16)
        let device = "\(bus)-" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        let link = "\(root)/sys/bus/i2c/devices/\(device)/driver"
        var buffer = [CChar](repeating: 0, count: 1_024)
        let count = readlink(link, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(
            decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return target.split(separator: "/").last.map(String.init)
    }

    static func hexadecimal(_ address: Int) -> String {
        "0x" + (address < 16 ? "0" : "") + String(address, radix: 16)
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
