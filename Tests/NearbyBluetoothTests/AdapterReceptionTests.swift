import NearbyCore
import Testing

@testable import NearbyBluetooth

/// Lasting reception for sensors, beside the scans for nodes; and its watchdog.
struct AdapterReceptionTests {
    private static let sensor: [UInt8] = hex("020106 0616d2fc400164")
    private static let address = BluetoothAddress(value: 0xc0de, kind: .lowEnergyRandom)

    private func started(listens: Bool = true, current: ControllerSettings = []) -> AdapterWorld {
        var world = AdapterWorld()
        _ = world.kernel.plug(0, current: current)
        world.handle(.start)
        if listens { world.handle(.setMonitoring(true)) }
        world.pass(.seconds(6))
        return world
    }

    private func monitors(_ world: AdapterWorld) -> [[AdvertisementPattern]] {
        (world.kernel.controllers[0]?.monitors ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    private func hear(_ world: inout AdapterWorld, _ data: [UInt8] = Self.sensor) {
        let found = ManagementEvent.Body.found(Self.address, rssi: -70, data: data)
        world.handle(.event(ManagementEvent(index: 0, body: found)))
    }

    private func count(_ world: AdapterWorld, _ command: ManagementCommand) -> Int {
        world.kernel.commands.filter { $0 == command }.count
    }

    private func heard(_ world: AdapterWorld) -> [AdapterMachine.Output] {
        world.outputs.filter { if case .advertisement = $0 { true } else { false } }
    }

    // MARK: The monitor

    @Test func aMonitorStaysBesideTheScansForNodes() {
        var world = started()
        #expect(monitors(world) == [MonitorMachine.patterns])
        world.pass(.seconds(60))
        #expect(monitors(world) == [MonitorMachine.patterns])
        #expect(world.kernel.commands.filter { $0.code == .addMonitor }.count == 1)
        #expect(count(world, .startDiscovery) > 10, "nodes are still looked for")
        world.handle(.setContent(true))
        world.pass(.seconds(2))
        let before = world.kernel.commands.count
        world.pass(.seconds(3_600))
        #expect(world.kernel.commands.count == before, "content, the monitor hears nodes too")
        world.handle(.setContent(false))
        world.pass(.seconds(20))
        #expect(world.kernel.commands.count > before)
    }

    @Test func thePatternsAreThoseOfTheFormats() {
        let bytes = ManagementCommand.addMonitor(MonitorMachine.patterns).bytes(for: 0)
        #expect(bytes.count == 6 + 1 + 5 * 34)
        #expect(bytes[6] == 5)
        let heads = (0..<5).map { Array(bytes[(7 + 34 * $0)..<(7 + 34 * $0 + 5)]) }
        #expect(
            heads == [
                hex("ff00029904"), hex("160002d2fc"), hex("1600021a18"), hex("16000295fe"),
                hex("2100104db9"),
            ])
    }

    @Test func whatSensorsSayIsHandedOutAndNodesAreNot() {
        var world = started()
        hear(&world)
        let other = Advertisement(networkTag: 0x0102_0304, psm: 0x80, peerPrefix: 1)!
        hear(&world, other.bytes)
        #expect(
            heard(world) == [.advertisement(Self.sensor, from: Self.address, rssi: -70)])
        #expect(world.outputs.contains(.heard(other, from: Self.address)))
        world.handle(.setMonitoring(false))
        hear(&world)
        #expect(heard(world).count == 1)
        #expect(monitors(world).isEmpty)
    }

    @Test func withoutSensorsNothingIsDifferent() {
        var world = started(listens: false)
        hear(&world)
        world.pass(.seconds(7_200))
        #expect(heard(world).isEmpty)
        #expect(!world.kernel.commands.contains { $0.code == .addMonitor })
        #expect(world.machine.restarts == 0)
    }

    @Test func aMonitorThatOthersTakeAwayIsSetAgain() {
        var world = started()
        let handle = world.kernel.controllers[0]?.monitors.keys.first ?? 0
        world.kernel.controllers[0]?.monitors = [:]
        world.handle(.event(ManagementEvent(index: 0, body: .monitorRemoved(handle: handle))))
        world.pass(.seconds(3))
        #expect(monitors(world) == [MonitorMachine.patterns])
    }

    @Test func aMonitorIsSetAnewAfterThePowerWasOff() {
        var world = started()
        for _ in 0..<40 {
            let event = world.kernel.change(0) { $0.remove(.powered) }
            world.handle(.event(event))
            world.pass(.seconds(400))
            #expect(monitors(world) == [MonitorMachine.patterns])
        }
        world.handle(.stop)
        #expect(world.outputs.last == .restored)
        #expect(monitors(world).isEmpty)
    }

    @Test func whatKilledProcessesLeftMakesRoom() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        for handle: UInt16 in 1...32 {
            world.kernel.controllers[0]?.monitors[handle] = MonitorMachine.patterns
        }
        world.handle(.setMonitoring(true))
        world.handle(.start)
        world.pass(.seconds(10))
        #expect(monitors(world) == [MonitorMachine.patterns])
    }

    // MARK: Without monitors

    @Test(arguments: [
        ManagementStatus.unknownCommand, .notSupported, .invalidParameters,
    ])
    func whereThereAreNoMonitorsScansTakeTheirPlace(_ status: ManagementStatus) {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.refusals[.addMonitor] = status
        world.handle(.setMonitoring(true))
        world.handle(.start)
        world.handle(.setContent(true))
        world.pass(.seconds(100))
        #expect(world.kernel.commands.filter { $0.code == .addMonitor }.count == 1)
        #expect((9...11).contains(count(world, .startDiscovery)))
        #expect(world.diagnostics.filter { $0 == .cannotMonitor }.count == 1)
        hear(&world)
        #expect(heard(world).count == 1)
        var scanned = Duration.zero
        for _ in 0..<1_000 {
            world.pass(.milliseconds(100))
            if world.kernel.controllers[0]?.isScanning == true { scanned += .milliseconds(100) }
        }
        #expect((28...32).contains(scanned.milliseconds / 1_000), "three tenths of the time")
    }

    @Test func aMonitorThatFailsForAWhileIsTriedAgain() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.refusals[.addMonitor] = .busy
        world.handle(.setMonitoring(true))
        world.handle(.start)
        world.handle(.setContent(true))
        world.pass(.seconds(60))
        #expect((4...8).contains(world.kernel.commands.filter { $0.code == .addMonitor }.count))
        #expect(count(world, .startDiscovery) > 3)
        world.kernel.refusals = [:]
        world.pass(.seconds(80))
        #expect(monitors(world) == [MonitorMachine.patterns])
    }

    // MARK: The watchdog

    @Test func silenceAfterSomethingWasHeardBeginsAnew() {
        var world = started()
        world.handle(.setContent(true))
        world.pass(.seconds(10))
        hear(&world)
        let added = count(world, .addMonitor(MonitorMachine.patterns))
        world.pass(.seconds(299))
        #expect(count(world, .addMonitor(MonitorMachine.patterns)) == added)
        world.pass(.seconds(2))
        #expect(count(world, .addMonitor(MonitorMachine.patterns)) == added + 1)
        #expect(monitors(world) == [MonitorMachine.patterns])
        #expect(world.machine.restarts == 1)
        #expect(world.diagnostics.last == .receptionLost)
        hear(&world)
        #expect(world.diagnostics.last == .receptionRestored)
        world.pass(.seconds(290))
        #expect(world.machine.restarts == 1)
    }

    @Test func whereNothingWasEverHeardNothingIsMissed() {
        var world = started()
        world.pass(.seconds(86_400))
        #expect(world.machine.restarts == 0)
    }

    @Test func longSilenceSwitchesTheControllerOffAndOnAtMostRarely() {
        var world = started(current: [.powered, .lowEnergy])
        hear(&world)
        world.pass(.seconds(2_000))
        #expect(count(world, .setPowered(false)) == 0)
        world.pass(.seconds(200))
        #expect(count(world, .setPowered(false)) == 1, "the third attempt")
        #expect(count(world, .setPowered(true)) == 1)
        #expect(world.ups == [true, false, true])
        #expect(world.diagnostics.filter { $0 == .receptionLost }.count == 1)
        #expect(!world.diagnostics.contains(.poweredOff))
        #expect(monitors(world) == [MonitorMachine.patterns])
        world.pass(.seconds(86_400))
        #expect((2...4).contains(count(world, .setPowered(false))))
        hear(&world)
        #expect(world.diagnostics.last == .receptionRestored)
        world.handle(.stop)
        #expect(world.kernel.controllers[0]?.information.current == [.powered, .lowEnergy])
        #expect(monitors(world).isEmpty)
    }

    @Test func aControllerWithALinkIsNotSwitchedOff() {
        var world = started()
        world.handle(.setLinked(true))
        hear(&world)
        world.pass(.seconds(86_400))
        #expect(count(world, .setPowered(false)) == 0)
        #expect(world.machine.restarts > 10)
        #expect(world.machine.restarts < 40)
    }

    @Test func stoppingWhileItIsSwitchedOffLeavesItAsItWasFound() {
        var world = started(current: [.powered, .lowEnergy])
        hear(&world)
        world.kernel.silent = [.setPowered]
        while !world.kernel.commands.contains(.setPowered(false)) {
            world.now = world.machine.nextDeadline ?? .distantFuture
            world.handle(.deadlineReached)
        }
        let off = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(off))
        world.handle(.stop)
        world.kernel.silent = []
        let done = ManagementEvent.Body.completed(.setPowered, .settings(.lowEnergy))
        world.handle(.event(ManagementEvent(index: 0, body: done)))
        #expect(world.outputs.last == .restored)
        #expect(world.kernel.controllers[0]?.information.current == [.powered, .lowEnergy])
    }

    /// As `whateverHappensItRecovers`, while sensors are listened for now and then.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func whateverHappensItListensInTheEnd(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = AdapterWorld(.any, seed: seed)
        _ = world.kernel.plug(0)
        world.handle(.start)
        for _ in 0..<80 {
            disturb(&world, &random)
            world.pass(.milliseconds(Int64.random(in: 0...8_000, using: &random)))
            #expect(world.machine.nextDeadline.map { $0 > world.now } ?? true)
            #expect(monitors(world).count <= 32)
        }
        world.kernel.silent = []
        world.kernel.refusals = [:]
        if world.kernel.controllers[0] == nil {
            let event = world.kernel.plug(0)
            world.handle(.event(event))
        }
        world.handle(.setMonitoring(true))
        world.handle(.setContent(true))
        world.pass(.seconds(900))
        #expect(
            monitors(world).contains(MonitorMachine.patterns)
                != world.machine.reception.isMonitorUnsupported)
        world.handle(.stop)
        world.pass(.seconds(60))
        #expect(world.outputs.last == .restored)
    }

    private func disturb(_ world: inout AdapterWorld, _ random: inout SeededGenerator) {
        let code = ManagementCommand.Code.allCases.randomElement(using: &random)!
        var event: ManagementEvent?
        switch Int.random(in: 0..<12, using: &random) {
        case 0: event = world.kernel.unplug(0)
        case 1: if world.kernel.controllers[0] == nil { event = world.kernel.plug(0) }
        case 2: event = world.kernel.change(0) { $0.remove(.powered) }
        case 3: event = world.kernel.change(0) { $0.insert(.powered) }
        case 4: world.kernel.silent.formSymmetricDifference([code])
        case 5: world.kernel.refusals[code] = .busy
        case 6, 7: world.kernel.refusals[code] = nil
        case 8: world.handle(.setMonitoring(Bool.random(using: &random)))
        case 9:
            hear(&world)
            world.pass(.seconds(Int64.random(in: 0...2_000, using: &random)))
        case 10:
            if let handle = world.kernel.controllers[0]?.monitors.keys.min() {
                world.kernel.controllers[0]?.monitors[handle] = nil
                event = ManagementEvent(index: 0, body: .monitorRemoved(handle: handle))
            }
        default:
            world.handle(.setContent(Bool.random(using: &random)))
            world.handle(.setConnecting(Bool.random(using: &random)))
        }
        if let event { world.handle(.event(event)) }
    }
}
