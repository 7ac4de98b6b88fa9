import NearbyCore

/// What the management interface tells.
extension AdapterMachine {
    mutating func take(_ event: ManagementEvent, _ now: Instant) {
        switch event.body {
        case .completed(let code, let reply):
            if let pending = answered(code, event.index) { completed(pending, reply, now) }
        case .failed(let code, let status):
            if let pending = answered(code, event.index) { failed(pending, status, now) }
        case .indexAdded: add(event.index)
        case .indexRemoved: remove(event.index, now)
        case .newSettings(let settings): settle(settings, of: event.index, now)
        case .found(let address, let rssi, let data):
            if isUp, event.index == chosen?.index { hear(data, from: address, rssi: rssi, now) }
        case .discovering(let isOn): if !isOn { discoveryEnded(event.index, now) }
        case .advertisingAdded(let instance): taken(instance, event.index, now)
        case .advertisingRemoved(let instance): lost(instance, event.index, now)
        case .monitorRemoved(let handle):
            guard event.index == chosen?.index else { break }
            carryOut(monitor.handle(.removed(handle: handle), now: now), now)
            carryOut(scans.handle(.monitorRemoved(handle: handle), now: now), now)
        case .resumed: resumed(event.index)
        case .other: break
        }
    }

    /// What is set at the controller in use.
    var information: ControllerInformation? {
        chosen.flatMap { chosen in place(of: chosen.index).flatMap { controllers?[$0].information }
        }
    }

    private func place(of index: UInt16) -> Int? {
        controllers?.firstIndex { $0.index == index }
    }

    private mutating func insert(_ index: UInt16) {
        guard var all = controllers, all.count < Limits.bluetoothControllersMax,
            !all.contains(where: { $0.index == index })
        else { return }
        let place = all.firstIndex { $0.index > index } ?? all.count
        all.insert(Controller(index: index), at: place)
        controllers = all
    }

    /// The controller that fits best; the one in use is kept while it is there.
    mutating func choose() {
        guard chosen == nil, let controllers, phase == .running else { return }
        for controller in controllers {
            let index = controller.index
            // Without a address, a controller would need a static one from somebody.
            guard let information = controller.information, information.address != 0,
                information.supported.contains(.lowEnergy)
                    || acceptsClassic && information.supported.contains(.classic)
            else { continue }
            switch selection {
            case .any: break
            case .index(let number): if number != index { continue }
            case .address(let address): if address != information.address { continue }
            }
            let address = BluetoothAddress(value: information.address, kind: .lowEnergyPublic)
            chosen = Adapter(index: index, address: address)
            found = information.current
            return
        }
    }

    // MARK: Controllers come and go

    private mutating func add(_ index: UInt16?) {
        guard let index else { return }
        insert(index)
        setup.succeed()
    }

    private mutating func remove(_ index: UInt16?, _ now: Instant) {
        guard let index else { return }
        controllers?.removeAll { $0.index == index }
        if pending?.index == index { pending = nil }
        guard chosen?.index == index else { return }
        chosen = nil
        instance = nil
        cannotAdvertise = false
        carryOut(monitor.handle(.controllerRemoved, now: now), now)
        carryOut(scans.handle(.controllerRemoved, now: now), now)
        carryOut(watchdog.handle(.controllerRemoved, now: now), now)
        givenUp = []
        isStuck = false
        renewal.succeed()
        setup.succeed()
        advertising.succeed()
        power.succeed()
        say(.gone)
    }

    private mutating func settle(
        _ settings: ControllerSettings, of index: UInt16?, _ now: Instant
    ) {
        guard let index, let place = place(of: index),
            let before = controllers?[place].information?.current
        else { return }
        let wasPowered = before.contains(.powered)
        controllers?[place].information?.current = settings
        guard index == chosen?.index, phase == .running else { return }
        if wasPowered, !settings.contains(.powered), isStuck {
            // It was us.
            isStuck = false
            instance = nil
            renewal.fail(now, using: &random)
        } else if wasPowered, !settings.contains(.powered), watchdog.isCycling {
            power.succeed()
        } else if wasPowered, !settings.contains(.powered) {
            // Somebody switched it off. It is switched on again, but never in a tug-of-war.
            if now - poweredAt > Self.powerPeace { power.succeed() }
            power.fail(now, using: &random)
            say(.poweredOff)
        } else if !wasPowered, settings.contains(.powered) {
            carryOut(watchdog.handle(.poweredOn, now: now), now)
            poweredAt = now
            setup.succeed()
        }
    }

    // MARK: Advertising

    /// After a sleep the kernel goes on advertising only what was advertised when it began (Linux
    /// 6.1: not what a link to us had paused); so it is told again.
    private mutating func resumed(_ index: UInt16?) {
        guard index == chosen?.index, isAdvertising else { return }
        isAdvertising = false
        advertising.succeed()
    }

    private mutating func lost(_ number: UInt8, _ index: UInt16?, _ now: Instant) {
        guard index == chosen?.index, number == instance, isAdvertising else { return }
        isAdvertising = false
        advertising.fail(now, using: &random)
    }

    /// Somebody else's instance has our number: we take another.
    private mutating func taken(_ number: UInt8, _ index: UInt16?, _ now: Instant) {
        guard index == chosen?.index, number == instance, pending?.command.code != .addAdvertising
        else { return }
        if number > 1 { instance = number - 1 }
        isAdvertising = false
        advertising.fail(now, using: &random)
    }

    /// After rfkill, Linux may remember an instance that the controller has lost: it can neither be
    /// advertised nor removed, as its set cannot be disabled first (Linux 6.1, net/bluetooth/
    /// hci_sync.c, hci_disable_ext_adv_instance_sync). Another number works; power frees all.
    private mutating func giveUpInstance(_ now: Instant) {
        advertising.fail(now, using: &random)
        guard let instance else { return }
        if instance > 1 { self.instance = instance - 1 } else { isStuck = true }
    }

    // MARK: Answers

    /// The command that this answers; nil if it is late or was not asked for.
    private mutating func answered(_ code: ManagementCommand.Code, _ index: UInt16?) -> Pending? {
        guard let pending, pending.command.code == code, pending.index == index else { return nil }
        self.pending = nil
        return pending
    }

    private mutating func completed(
        _ answered: Pending, _ reply: ManagementEvent.Reply, _ now: Instant
    ) {
        switch (answered.command, reply) {
        case (_, .indices(let indices)):
            controllers = []
            for index in indices { insert(index) }
            setup.succeed()
        case (_, .information(let information)):
            if let place = answered.index.flatMap(place(of:)) {
                controllers?[place].information = information
            }
        case (_, .settings(let settings)):
            settle(settings, of: answered.index, now)
            setup.succeed()
        case (_, .advertisingFeatures(let most)):
            instance = most > 0 ? most : nil
            cannotAdvertise = most == 0
        case (.addMonitor(MonitorMachine.patterns), .monitor(let handle)):
            carryOut(monitor.handle(.added(handle: handle), now: now), now)
        case (_, .monitor(let handle)):
            carryOut(scans.handle(.monitorAdded(handle: handle), now: now), now)
        case (.addAdvertising, _):
            isAdvertising = true
            advertising.succeed()
        case (.removeAdvertising, _): isAdvertising = false
        case (.startDiscovery, _):
            carryOut(scans.handle(.discoveryStarted, now: now), now)
        case (.removeMonitor(let handle), _): monitorRemoved(handle, now)
        case (.stopDiscovery, _): carryOut(scans.handle(.stopped, now: now), now)
        default: break
        }
    }

    mutating func failed(_ answered: Pending, _ status: ManagementStatus, _ now: Instant) {
        pending = nil
        let code = answered.command.code
        guard phase == .running else {
            givenUp.append(code)
            return
        }
        switch (status, code) {
        case (.permissionDenied, _):
            phase = .denied
            say(.permissionDenied)
        case (_, .removeMonitor):
            // An index that is invalid is the monitor's here: it is gone already.
            if case .removeMonitor(let handle) = answered.command { monitorRemoved(handle, now) }
        case (.invalidIndex, _): remove(answered.index, now)
        case (.rfkilled, _):
            // The kernel says nothing when the block is lifted.
            setup.postpone(until: now + Self.rfkillPeriod)
            say(.rfkilled)
        case (_, .startDiscovery):
            carryOut(scans.handle(.discoveryRefused(status), now: now), now)
        case (_, .addMonitor):
            if answered.command == .addMonitor(MonitorMachine.patterns) {
                carryOut(monitor.handle(.refused(status), now: now), now)
            } else {
                carryOut(scans.handle(.monitorRefused, now: now), now)
            }
        case (_, .stopDiscovery): carryOut(scans.handle(.stopped, now: now), now)
        case (_, .setPowered) where answered.command == .setPowered(false):
            carryOut(watchdog.handle(.powerOffRefused, now: now), now)
        case (.notSupported, .addAdvertising), (.unknownCommand, .addAdvertising),
            (.invalidParameters, .addAdvertising), (.notSupported, .readAdvertisingFeatures),
            (.unknownCommand, .readAdvertisingFeatures):
            cannotAdvertise = true
            say(.failed(code, status))
        case (.failed, .addAdvertising): giveUpInstance(now)
        case (_, .addAdvertising): advertising.fail(now, using: &random)
        case (_, .setConnectable): givenUp.append(code)
        case (.notPowered, _):
            setup.fail(now, using: &random)
        default:
            setup.fail(now, using: &random)
            say(.failed(code, status))
        }
    }

    // MARK: Scans

    /// Ours that lasts, or that of a passive scan.
    private mutating func monitorRemoved(_ handle: UInt16, _ now: Instant) {
        if handle == monitor.handle {
            carryOut(monitor.handle(.removed(handle: handle), now: now), now)
        } else {
            carryOut(scans.handle(.stopped, now: now), now)
        }
    }

    /// The kernel ended it, or whoever shares it.
    private mutating func discoveryEnded(_ index: UInt16?, _ now: Instant) {
        guard index == chosen?.index, pending?.command != .stopDiscovery else { return }
        carryOut(scans.handle(.discoveryEnded, now: now), now)
    }
}
