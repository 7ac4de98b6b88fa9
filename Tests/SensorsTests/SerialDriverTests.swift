import Glibc
import NearbyCore
import NearbyLinux
import Telemetry
import Testing
import VectorFile

@testable import Sensors

/// With real pseudoterminals.
struct SerialDriverTests {
    /// The device's end of a line, and a name for ours that outlasts it.
    private final class Line {
        let link: String
        private let folder = TemporaryFolder()
        private var device: Int32 = -1

        init() {
            link = folder.path + "/ttyUSB0"
            plugIn()
        }

        deinit { unplug() }

        func plugIn() {
            device = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var isLocked: Int32 = 0
            _ = ioctl(device, Self.setLock, &isLocked)
            symlink(name, link)
        }

        func unplug() {
            unlink(link)
            close(device)
            device = -1
        }

        var name: String {
            var number: Int32 = -1
            return ioctl(device, Self.number, &number) == 0 ? "/dev/pts/\(number)" : ""
        }

        /// TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, which Swift cannot import.
        private static let setLock: UInt = 0x4004_5431
        private static let number: UInt = 0x8004_5430

        func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(device, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        func send(_ text: String) { send(Array(text.utf8)) }

        func received(_ count: Int) -> [UInt8] {
            var entry = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
            var buffer = [UInt8](repeating: 0, count: count)
            guard poll(&entry, 1, 5_000) > 0 else { return [] }
            let came = read(device, &buffer, count)
            return Array(buffer.prefix(max(0, came)))
        }
    }

    private func driver(
        _ line: Line, _ spoken: SerialProtocol, channel: String? = nil,
        expiry: Duration = .seconds(60)
    ) -> SerialDriver {
        SerialDriver(
            device: line.link, kind: "test", baud: 9_600, protocol: spoken, channel: channel,
            expiry: expiry)
    }

    /// What comes by itself until there are so many, as the event loop would ask for it.
    private func heard(_ driver: SerialDriver, _ count: Int) -> [String] {
        var texts: [String] = []
        let deadline = milliseconds() + 5_000
        while texts.count < count, milliseconds() < deadline, let descriptor = driver.descriptor {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 1_000) > 0 else { continue }
            texts += driver.receive(now: MonotonicClock.now()).map(\.text)
        }
        return texts
    }

    @Test func aDeviceThatSpeaksIsHeard() {
        let line = Line()
        let driver = driver(line, .plantower, channel: "hall")
        #expect(driver.descriptor == nil)
        #expect(driver.sample().isEmpty)
        line.send([9, 9, 9] + vector("pms5003"))
        let texts = heard(driver, 9)
        #expect(texts.first == "hall.pm1 ug/m3 5")
        #expect(texts.count == 9)
        // The second frame's are the newest when the period ends.
        #expect(driver.sample().map(\.text).first == "hall.pm1 ug/m3 0")
        #expect(driver.sample().isEmpty)
        #expect(driver.diagnostic == nil)
    }

    @Test func bytesPassUnchanged() throws {
        let line = Line()
        let pattern = try #require(LinePattern("^.?([0-9]+).?$"))
        let driver = driver(line, .pattern(pattern, [("v", "V")]), channel: "x")
        _ = driver.sample()
        // Among them what a terminal would take for an interrupt, an end, flow control or a line.
        line.send([0x0a, 0x03, 0x37, 0x0a])
        #expect(heard(driver, 1) == ["x.v V 7"])
        for byte in [0x04, 0x11, 0x13, 0x1a, 0x7f, 0xff] as [UInt8] {
            _ = driver.sample()
            line.send([byte, 0x31, 0x32, 0x0a])
            #expect(heard(driver, 1) == ["x.v V 12"])
        }
        // Nothing is echoed.
        #expect(driver.sample().isEmpty)
    }

    @Test func aDeviceIsAskedOnceAPeriod() {
        let line = Line()
        let driver = driver(line, .winsen)
        for _ in 0..<3 {
            #expect(driver.sample().isEmpty)
            #expect(line.received(64) == [0xff, 1, 0x86, 0, 0, 0, 0, 0, 0x79])
            line.send(vector("mh-z19"))
            // The same three times: nobody knows yet whether it measures.
            #expect(heard(driver, 2) == ["co2 ppm null:warming-up", "temperature Cel 31"])
        }
    }

    @Test func aDeviceThatGoesIsNullAndReturns() {
        let line = Line()
        let driver = driver(line, .nova)
        _ = driver.sample()
        line.send(vector("sds011"))
        #expect(heard(driver, 2) == ["pm2.5 ug/m3 123.6", "pm10 ug/m3 261.8"])
        line.unplug()
        let nulls = ["pm2.5 ug/m3 null:absent", "pm10 ug/m3 null:absent"]
        #expect(heard(driver, 2) == nulls)
        #expect(driver.descriptor == nil)
        #expect(driver.diagnostic?.contains("went away") == true)
        #expect(driver.sample().map(\.text) == nulls)
        #expect(driver.diagnostic?.contains("is not there") == true)
        line.plugIn()
        #expect(driver.sample().isEmpty)
        line.send(vector("sds011"))
        #expect(heard(driver, 2).count == 2)
        #expect(driver.diagnostic == "opened 2 times")
    }

    @Test func silenceIsNullAndSoIsNoise() {
        let line = Line()
        let silent = driver(line, .nova, expiry: .zero)
        #expect(silent.sample().map(\.text).first == "pm2.5 ug/m3 null:timeout")
        line.send(vector("sds011"))
        #expect(heard(silent, 2).count == 2)
        #expect(silent.sample().map(\.text).first == "pm2.5 ug/m3 null:expired")
        var wrong = vector("sds011")
        wrong[2] ^= 1
        line.send(wrong)
        line.send([UInt8](repeating: 0x55, count: 20))
        #expect(heardNothing(silent))
        #expect(silent.sample().map(\.text).first == "pm2.5 ug/m3 null:checksum")
        #expect(silent.diagnostic == "1 with a wrong checksum, 29 stray bytes")
    }

    @Test func noiseAloneIsToldOf() {
        let line = Line()
        let driver = driver(line, .plantower, expiry: .zero)
        _ = driver.sample()
        line.send([UInt8](repeating: 0x55, count: 300))
        #expect(heardNothing(driver))
        #expect(driver.sample().first?.outcome == .null(.malformed))
        #expect(driver.diagnostic?.contains("300 bytes came and none made sense") == true)
    }

    private func heardNothing(_ driver: SerialDriver) -> Bool {
        guard let descriptor = driver.descriptor else { return false }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 200) > 0 {
            if !driver.receive(now: MonotonicClock.now()).isEmpty { return false }
        }
        return true
    }

    @Test func whatIsInUseIsLeftAlone() {
        let line = Line()
        let first = driver(line, .nova)
        let second = driver(line, .nova)
        _ = first.sample()
        #expect(second.sample().map(\.text).first == "pm2.5 ug/m3 null:denied")
        #expect(second.diagnostic?.contains("is in use by another program") == true)
        // Whoever asks for no lock meets the exclusive mode, unless it may everything.
        if getuid() != 0 { #expect(open(line.name, O_RDWR | O_NOCTTY) < 0 && errno == EBUSY) }
        first.finish()
        #expect(second.sample().isEmpty)
        #expect(first.sample().map(\.text).first == "pm2.5 ug/m3 null:absent")
    }

    @Test func theLineIsLeftAsItWas() {
        let line = Line()
        let keeper = open(line.name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(keeper) }
        var before = termios()
        tcgetattr(keeper, &before)
        let driver = driver(line, .nova)
        _ = driver.sample()
        var during = termios()
        tcgetattr(keeper, &during)
        #expect(during.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
        #expect(during.c_iflag & tcflag_t(ICRNL | IXON | ISTRIP) == 0)
        #expect(cfgetispeed(&during) == speed_t(B9600))
        driver.finish()
        var after = termios()
        tcgetattr(keeper, &after)
        #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag)
        #expect(cfgetospeed(&after) == cfgetospeed(&before))
    }

    @Test func whatIsNoPortIsSaidSo() {
        let folder = TemporaryFolder()
        func diagnostic(_ path: String) -> (String?, NullReason?) {
            let driver = SerialDriver(
                device: path, kind: "test", baud: 9_600, protocol: .nova, channel: nil,
                expiry: .seconds(1))
            guard case .null(let reason) = driver.sample().first?.outcome else { return (nil, nil) }
            return (driver.diagnostic, reason)
        }
        let file = folder.write("file", "")
        #expect(diagnostic(file) == ("\(file) is not a serial port", .failed))
        let none = diagnostic(folder.path + "/none")
        #expect(none.0?.contains("none is not there") == true && none.1 == .absent)
    }

    @Test func theConsoleIsToldOf() {
        let folder = TemporaryFolder()
        let port = folder.write("ttyAMA0", "")
        let consoles = folder.write(
            "consoles", "tty0   -WU (EC  p  )    4:1\nttyAMA0  -W- (EC p  )  204:64\n")
        let link = folder.path + "/serial0"
        symlink(port, link)
        defer { unlink(link) }
        let warning = SerialConsole.warning(link, consoles: consoles)
        #expect(warning?.contains("raspi-config") == true)
        #expect(SerialConsole.warning(consoles, consoles: consoles) == nil)
        folder.write("by-id/usb-FTDI-port0", "")
        #expect(
            SerialConsole.present(folder.path + "/by-id")
                == "there is \(folder.path)/by-id/usb-FTDI-port0")
    }

    @Test func theEventLoopHearsIt() throws {
        let line = Line()
        let driver = driver(line, .lines(unit: "Cel"), channel: "t")
        _ = driver.sample()
        let loop = try EventLoop()
        var texts: [String] = []
        try loop.register(try #require(driver.descriptor)) { _ in
            texts += driver.receive(now: MonotonicClock.now()).map(\.text)
            if !texts.isEmpty { loop.stop() }
        }
        line.send("1.5\n21.5\n")
        try loop.run(until: MonotonicClock.now() + .seconds(5))
        #expect(texts == ["t Cel 21.5"])
    }
}
