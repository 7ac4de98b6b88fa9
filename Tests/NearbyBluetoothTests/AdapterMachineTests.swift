import NearbyCore
import Testing

@testable import NearbyBluetooth

struct AdapterMachineTests {
    private func started(_ selection: AdapterSelection = .any) -> AdapterWorld {
        var world = AdapterWorld(selection)
        _ = world.kernel.plug(0)
        world.handle(.start)
        return world
    }

    @Test func aColdControllerIsSwitchedOnAndAdvertises() {
        let world = started()
        #expect(
            world.kernel.commands == [
                .readIndexList, .readInformation, .setLowEnergy(true), .setPowered(true),
                .readAdvertisingFeatures,
                .addAdvertising(
                    instance: 5,
                    data: Advertisement(
                        networkTag: 0x0102_0304, psm: 0x80, peerPrefix: 0xa1b2_c3d4_e5f6)!.bytes),
                .startDiscovery,
            ])
        #expect(world.ups == [true])
        #expect(world.machine.summary == "advertising")
    }

    @Test func whatWasFoundIsPutBack() {
        for found: ControllerSettings in [
            [], [.lowEnergy], [.powered, .classic], [.powered, .lowEnergy],
            [.powered, .classic, .lowEnergy, .connectable],
        ] {
            var world = AdapterWorld(.any, acceptsClassic: true)
            _ = world.kernel.plug(0, current: found)
            world.handle(.start)
            world.pass(.seconds(7))
            world.handle(.stop)
            #expect(world.outputs.last == .restored)
            #expect(world.kernel.controllers[0]?.information.current == found)
            #expect(world.kernel.controllers[0]?.advertising.isEmpty == true)
            #expect(world.kernel.controllers[0]?.isScanning == false)
            #expect(world.machine.nextDeadline == nil)
        }
    }

    @Test func scansAreShortAndRarerWhenContent() {
        var world = started()
        world.pass(.seconds(60))
        let wanting = world.kernel.commands.filter { $0 == .startDiscovery }.count
        #expect((11...13).contains(wanting))
        #expect(world.kernel.commands.filter { $0 == .stopDiscovery }.count >= wanting - 1)
        world.handle(.setContent(true))
        world.pass(.seconds(30))
        let before = world.kernel.commands.count
        world.pass(.seconds(60))
        let content = world.kernel.commands.dropFirst(before)
        #expect(
            content.filter { $0.code == .addMonitor }.count == 2, "\(content.map(\.code))")
        #expect(!content.contains(.startDiscovery))
        world.handle(.setContent(false))
        #expect(
            world.kernel.controllers[0]?.isScanning == true
                || !world.kernel.controllers[0]!
                    .monitors.isEmpty
        )
    }

    @Test func connectsInterruptScansButNotForEver() {
        var world = started()
        #expect(world.kernel.controllers[0]?.isScanning == true)
        world.handle(.setConnecting(true))
        #expect(world.kernel.controllers[0]?.isScanning == false)
        world.pass(.seconds(14))
        #expect(world.kernel.controllers[0]?.isScanning == false)
        world.pass(.seconds(12))
        #expect(world.kernel.commands.filter { $0 == .startDiscovery }.count == 2)
        world.handle(.setConnecting(false))
        world.pass(.seconds(10))
        #expect(world.kernel.commands.filter { $0 == .startDiscovery }.count >= 3)
    }

    @Test func aKernelWithoutMonitorsScansActively() {
        var world = started()
        world.kernel.refusals[.addMonitor] = .unknownCommand
        world.handle(.setContent(true))
        world.pass(.seconds(120))
        #expect(world.kernel.commands.filter { $0.code == .addMonitor }.count == 1)
        let scans = world.kernel.commands.filter { $0 == .startDiscovery }.count
        #expect((4...6).contains(scans))
    }

    @Test func anUnpluggedControllerIsUsedAgainWhenItIsBack() {
        var world = started()
        let gone = world.kernel.unplug(0)
        world.handle(.event(gone))
        #expect(world.ups == [true, false])
        #expect(world.diagnostics.last == .noController)
        world.pass(.seconds(10))
        let back = world.kernel.plug(3)
        world.handle(.event(back))
        #expect(world.ups == [true, false, true])
        #expect(world.machine.adapter?.index == 3)
        #expect(world.kernel.controllers[3]?.advertising.count == 1)
    }

    /// What rfkill leaves behind in Linux 6.1; seen in the lab.
    @Test func aDeadInstanceIsLeftForAnotherNumber() {
        var world = started()
        world.kernel.controllers[0]?.dead = [5]
        let off = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(off))
        world.pass(.seconds(10))
        #expect(world.kernel.controllers[0]?.advertising.keys.sorted() == [4])
        #expect(world.machine.summary == "advertising")
    }

    @Test func powerFreesTheNumbersWhenAllAreDead() {
        var world = started()
        world.kernel.controllers[0]?.dead = [1, 2, 3, 4, 5]
        let off = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(off))
        world.pass(.seconds(60))
        #expect(world.kernel.controllers[0]?.advertising.keys.sorted() == [5])
        #expect(world.kernel.commands.filter { $0 == .setPowered(false) }.count == 1)
        #expect(world.machine.summary == "advertising")
    }

    @Test func advertisingThatNeverWorksCostsPowerRarely() {
        var world = started()
        world.kernel.refusals[.addAdvertising] = .failed
        let off = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(off))
        world.pass(.seconds(3_600))
        let cycles = world.kernel.commands.filter { $0 == .setPowered(false) }.count
        #expect((2...12).contains(cycles), "\(cycles)")
        #expect(world.machine.summary == "starting")
    }

    /// A world whose numbers are all dead, on again after others had switched it off.
    private func exhausting(current: ControllerSettings = []) -> AdapterWorld {
        var world = AdapterWorld()
        _ = world.kernel.plug(0, current: current)
        world.handle(.start)
        world.kernel.controllers[0]?.dead = [1, 2, 3, 4, 5]
        let off = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(off))
        world.pass(.seconds(8))
        return world
    }

    @Test func whatWillNotBeSwitchedOffIsAskedRarely() {
        var world = exhausting()
        world.kernel.refusals[.setPowered] = .busy
        world.pass(.seconds(600))
        let attempts = world.kernel.commands.filter { $0 == .setPowered(false) }.count
        #expect((2...5).contains(attempts), "\(attempts)")
        world.kernel.refusals = [:]
        world.pass(.seconds(900))
        #expect(world.machine.summary == "advertising")
    }

    @Test func stoppingWhileInstancesAreFreedLeavesItOnAsItWasFound() {
        var world = exhausting(current: FakeKernel.both)
        // It goes off, and does not come on again for now.
        world.kernel.controllers[0]?.isBlocked = true
        world.pass(.seconds(60))
        #expect(world.kernel.commands.contains(.setPowered(false)))
        #expect(world.kernel.controllers[0]?.information.current.contains(.powered) == false)
        world.kernel.controllers[0]?.isBlocked = false
        world.handle(.stop)
        #expect(world.outputs.last == .restored)
        #expect(world.kernel.controllers[0]?.information.current == FakeKernel.both)
    }

    @Test func stoppingBeforeTheAnswerToSwitchingOffLeavesItOnAsItWasFound() {
        var world = exhausting(current: FakeKernel.both)
        world.kernel.silent = [.setPowered]
        while world.kernel.commands.last != .setPowered(false) {
            world.now = world.machine.nextDeadline ?? .distantFuture
            world.handle(.deadlineReached)
        }
        world.kernel.silent = []
        world.handle(.stop)
        let answer = world.kernel.answer(.setPowered(false), to: 0)!
        world.handle(.event(answer))
        #expect(world.outputs.last == .restored)
        #expect(world.kernel.controllers[0]?.information.current == FakeKernel.both)
    }

    @Test func whoIsSwitchedOffComesBackLaterAndLaterInATugOfWar() {
        var world = started()
        var waits: [Int64] = []
        for _ in 0..<6 {
            let event = world.kernel.change(0) { $0.remove(.powered) }
            world.handle(.event(event))
            let began = world.now
            while world.kernel.controllers[0]?.information.current.contains(.powered) == false {
                world.now = world.machine.nextDeadline ?? .distantFuture
                world.handle(.deadlineReached)
            }
            waits.append((world.now - began).milliseconds / 1_000)
        }
        #expect((5...6).contains(waits[0]))
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 }, "\(waits)")
        #expect(world.kernel.controllers[0]?.advertising.count == 1)
    }

    @Test func aBlockedControllerIsAskedAgainUntilItIsFree() {
        var world = started()
        world.kernel.controllers[0]?.isBlocked = true
        let event = world.kernel.change(0) { $0.remove(.powered) }
        world.handle(.event(event))
        world.pass(.seconds(30))
        #expect(world.machine.summary == "blocked by rfkill")
        #expect(world.diagnostics.filter { $0 == .rfkilled }.count == 1)
        world.kernel.controllers[0]?.isBlocked = false
        world.pass(.seconds(6))
        #expect(world.machine.summary == "advertising")
    }

    @Test func aRemovedInstanceIsRegisteredAgain() {
        var world = started()
        world.kernel.controllers[0]?.advertising = [:]
        let removed = ManagementEvent(index: 0, body: .advertisingRemoved(instance: 5))
        world.handle(.event(removed))
        #expect(world.kernel.controllers[0]?.advertising.isEmpty == true)
        world.pass(.seconds(2))
        #expect(world.kernel.controllers[0]?.advertising.keys.sorted() == [5])
    }

    /// What a link had paused when the machine fell asleep does not come back by itself (Linux
    /// 6.1).
    @Test func afterASleepTheInstanceIsRegisteredAgain() {
        var world = started()
        let before = world.kernel.commands.count
        world.handle(.event(ManagementEvent(index: 7, body: .resumed)))
        #expect(world.kernel.commands.count == before, "another controller")
        world.handle(.event(ManagementEvent(index: 0, body: .resumed)))
        world.pass(.seconds(1))
        #expect(world.kernel.commands[before...].map(\.code).contains(.addAdvertising))
        #expect(world.machine.summary == "advertising")
        #expect(world.kernel.controllers[0]?.advertising.keys.sorted() == [5])
    }

    @Test func whoTakesOurInstanceMayKeepIt() {
        var world = started()
        world.kernel.controllers[0]?.advertising[5] = [1]
        world.handle(.event(ManagementEvent(index: 0, body: .advertisingAdded(instance: 5))))
        world.pass(.seconds(2))
        #expect(world.kernel.controllers[0]?.advertising.keys.sorted() == [4, 5])
        #expect(world.kernel.controllers[0]?.advertising[5] == [1])
    }

    @Test func somebodyElsesScanIsSharedAndOursTriedAgain() {
        var world = started()
        world.pass(.seconds(6))
        world.kernel.controllers[0]?.isScanning = true
        world.pass(.seconds(20))
        world.kernel.controllers[0]?.isScanning = false
        world.pass(.seconds(6))
        #expect(
            world.kernel.commands.last?.code == .stopDiscovery
                || world.kernel.controllers[0]?
                    .isScanning == true
        )
    }

    @Test func withoutPermissionItAsksNoMore() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.refusals[.setLowEnergy] = .permissionDenied
        world.handle(.start)
        #expect(world.diagnostics == [.permissionDenied])
        #expect(world.machine.nextDeadline == nil)
        #expect(world.machine.summary == "no permission")
    }

    @Test func aCommandWithoutAnswerIsTriedAgain() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.silent = [.setPowered]
        world.handle(.start)
        world.pass(.seconds(30))
        #expect(world.kernel.commands.filter { $0 == .setPowered(true) }.count == 2)
        world.kernel.silent = []
        world.pass(.seconds(60))
        #expect(world.ups == [true])
    }

    @Test func busyIsTriedAgainWithLongerPauses() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.refusals[.setPowered] = .busy
        world.handle(.start)
        world.pass(.seconds(60))
        #expect((5...7).contains(world.kernel.commands.filter { $0 == .setPowered(true) }.count))
        world.kernel.refusals = [:]
        world.pass(.seconds(80))
        #expect(world.ups == [true])
    }

    @Test func theControllerIsTheOneThatWasNamed() {
        for (selection, index): (AdapterSelection, UInt16?) in [
            (.any, 1), (.index(2), 2), (.address(0x33), 3), (.index(0), nil), (.address(0x99), nil),
        ] {
            var world = AdapterWorld(selection)
            _ = world.kernel.plug(0, address: 0x30, supported: [.powered, .classic])
            for number: UInt16 in 1...3 {
                _ = world.kernel.plug(number, address: 0x30 + UInt64(number))
            }
            world.handle(.start)
            #expect(world.machine.adapter?.index == index)
            #expect(world.diagnostics.contains(.noController) == (index == nil))
        }
    }

    @Test func anOldControllerServesConfiguredPeersOnly() {
        var world = AdapterWorld(.any, acceptsClassic: true)
        _ = world.kernel.plug(0, supported: [.powered, .connectable, .classic], current: .classic)
        world.handle(.start)
        #expect(
            world.kernel.commands == [
                .readIndexList, .readInformation, .setPowered(true), .setConnectable(true),
            ])
        #expect(world.ups == [true])
        #expect(world.machine.nextDeadline == nil)
        world.handle(.stop)
        #expect(world.kernel.controllers[0]?.information.current == .classic)
    }

    @Test func aControllerThatCannotAdvertiseScansAllTheSame() {
        var world = AdapterWorld()
        _ = world.kernel.plug(0)
        world.kernel.refusals[.readAdvertisingFeatures] = .notSupported
        world.handle(.start)
        #expect(world.ups == [true])
        #expect(world.kernel.controllers[0]?.isScanning == true)
        #expect(world.machine.summary == "cannot advertise")
    }

    @Test func strangersEchoesAndGarbageAreNotHeard() throws {
        var world = started()
        let address = BluetoothAddress(value: 7, kind: .lowEnergyRandom)
        let own = Advertisement(networkTag: 0x0102_0304, psm: 0x80, peerPrefix: 0xa1b2_c3d4_e5f6)!
        var other = own
        other.peerPrefix = 1
        var stranger = other
        stranger.networkTag = 9
        for data in [own.bytes, stranger.bytes, Array(other.bytes.prefix(20)), other.bytes] {
            let found = ManagementEvent.Body.found(address, rssi: 0, data: data)
            world.handle(.event(ManagementEvent(index: 0, body: found)))
        }
        let heard = world.outputs.filter { if case .heard = $0 { true } else { false } }
        #expect(heard == [.heard(other, from: address)])
        let drops = world.outputs.filter { if case .drop = $0 { true } else { false } }
        #expect(drops == [.drop(.advertisementForeignNetwork), .drop(.advertisementMalformed)])
        #expect(world.outputs.contains(.diagnostic(.otherNetwork(1, address))))
    }

    @Test func aNodeOfAnotherNetworkIsToldOnceAndAFloodOfThemIsBounded() {
        var foreign = ForeignNodes()
        let hour = Duration.seconds(3_600)
        var told: [Int64] = []
        for minute in Int64(0)..<420 {
            if foreign.record(7, .zero + .seconds(60 * minute)) { told.append(minute) }
        }
        #expect(told == [0, 360])
        let flood = (100..<1_000 as Range<UInt64>).count { foreign.record($0, .zero + hour * 7) }
        #expect(flood == Limits.foreignNodesMax - 1)
        #expect(foreign.count(now: .zero + hour * 7) == Limits.foreignNodesMax)
        #expect(foreign.count(now: .zero + hour * 8) == 0)
        let later = foreign.record(2_000, .zero + hour * 8)
        #expect(later)
        let diagnostic = AdapterMachine.Diagnostic.otherNetwork(
            0xa1b2_c3d4_e5f6, BluetoothAddress(value: 7, kind: .lowEnergyPublic))
        #expect(diagnostic.description.hasPrefix("node ugzmh-vhf6…"))
    }

    /// Everything that others can do, in random order: afterwards it advertises again, and stopping
    /// puts back what was found. At no time may a deadline be due that changes nothing.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func whateverHappensItRecovers(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = AdapterWorld(.any, acceptsClassic: seed % 2 == 0, seed: seed)
        let found: ControllerSettings = seed % 3 == 0 ? [.powered, .classic] : []
        _ = world.kernel.plug(0, current: found)
        world.handle(.start)
        for _ in 0..<60 {
            disturb(&world, found, &random)
            world.pass(.milliseconds(Int64.random(in: 0...4_000, using: &random)))
            #expect(world.machine.nextDeadline.map { $0 > world.now } ?? true)
        }
        world.kernel.silent = []
        world.kernel.refusals = [:]
        if world.kernel.controllers[0] == nil {
            let event = world.kernel.plug(0, current: found)
            world.handle(.event(event))
        }
        world.kernel.controllers[0]?.isBlocked = false
        world.pass(.seconds(900))
        #expect(world.machine.summary == "advertising", "\(world.diagnostics.suffix(3))")
        world.handle(.stop)
        world.pass(.seconds(60))
        #expect(world.outputs.last == .restored)
        #expect(world.kernel.controllers[0]?.advertising.isEmpty == true)
    }

    private func disturb(
        _ world: inout AdapterWorld, _ found: ControllerSettings, _ random: inout SeededGenerator
    ) {
        let code = ManagementCommand.Code.allCases.randomElement(using: &random)!
        var event: ManagementEvent?
        switch Int.random(in: 0..<10, using: &random) {
        case 0: event = world.kernel.unplug(0)
        case 1:
            if world.kernel.controllers[0] == nil {
                event = world.kernel.plug(0, current: found)
            }
        case 2: event = world.kernel.change(0) { $0.remove(.powered) }
        case 3: event = world.kernel.change(0) { $0.insert(.powered) }
        case 4: world.kernel.controllers[0]?.isBlocked.toggle()
        case 5: world.kernel.silent.formSymmetricDifference([code])
        case 6: world.kernel.refusals[code] = .busy
        case 7: world.kernel.refusals[code] = nil
        case 8:
            world.kernel.controllers[0]?.advertising = [:]
            event = ManagementEvent(index: 0, body: .advertisingRemoved(instance: 5))
        default:
            world.handle(.setContent(Bool.random(using: &random)))
            world.handle(.setConnecting(Bool.random(using: &random)))
        }
        if let event { world.handle(.event(event)) }
    }
}
