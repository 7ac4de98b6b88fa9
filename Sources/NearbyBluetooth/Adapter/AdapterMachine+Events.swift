import NearbyCore

/// What the management interface tells.
extension AdapterMachine {
    private static let rfkillPeriod = Duration.seconds(5)

    mutating func receive(_ event: ManagementEvent, _ now: Instant) {
        let isOurs = event.index == adapter?.index
        switch event.body {
        case .completed(let code, let reply):
            if let answered = answered(code, event.index) { completed(answered, reply, now) }
        case .failed(let code, let status):
            if let answered = answered(code, event.index) { failed(answered, status, now) }
        case .indexAdded: add(event.index)
        case .indexRemoved: remove(event.index, now)
        case .newSettings(let settings): settle(settings, of: event.index, now)
        case .found(let address, let rssi, let data):
            guard isOurs, isUp else { break }
            carryOut(reception.handle(.found(data, from: address, rssi: rssi), now: now), now)
        case .discovering(let isOn):
            guard isOurs, !isOn, pending?.command != .stopDiscovery else { break }
            carryOut(reception.handle(.discoveryEnded, now: now), now)
        case .advertisingAdded(let instance):
            guard isOurs, pending?.command.code != .addAdvertising else { break }
            carryOut(advertising.handle(.overwritten(instance: instance), now: now), now)
        case .advertisingRemoved(let instance):
            guard isOurs else { break }
            carryOut(advertising.handle(.lost(instance: instance), now: now), now)
        case .monitorRemoved(let handle):
            guard isOurs else { break }
            carryOut(reception.handle(.monitorRemoved(handle: handle), now: now), now)
        case .resumed: if isOurs { carryOut(advertising.handle(.resumed, now: now), now) }
        case .other: break
        }
    }

    // MARK: Controllers come and go

    private mutating func add(_ index: UInt16?) {
        guard let index else { return }
        controllers.insert(index)
        setup.succeed()
    }

    private mutating func remove(_ index: UInt16?, _ now: Instant) {
        guard let index else { return }
        if pending?.index == index { pending = nil }
        guard controllers.remove(index) else { return }
        carryOut(power.handle(.controllerRemoved, now: now), now)
        carryOut(advertising.handle(.controllerRemoved, now: now), now)
        carryOut(reception.handle(.controllerRemoved, now: now), now)
        setup.succeed()
        notify(.gone)
    }

    private mutating func settle(
        _ settings: ControllerSettings, of index: UInt16?, _ now: Instant
    ) {
        guard let index, let before = controllers.apply(settings, to: index),
            index == adapter?.index, isRunning
        else { return }
        switch (before.contains(.powered), settings.contains(.powered)) {
        case (true, false): switchedOff(now)
        case (false, true):
            carryOut(reception.handle(.poweredOn, now: now), now)
            carryOut(power.handle(.switchedOn, now: now), now)
            setup.succeed()
        case (false, false), (true, true): break
        }
    }

    private mutating func switchedOff(_ now: Instant) {
        var reason = PowerMachine.Reason.others
        if advertising.isExhausted {
            reason = .freeingInstances
            carryOut(advertising.handle(.freed, now: now), now)
        } else if reception.isCycling {
            reason = .restartingReception
        }
        carryOut(power.handle(.switchedOff(reason), now: now), now)
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
        switch reply {
        case .nothing where answered.command.code == .addAdvertising:
            carryOut(advertising.handle(.added, now: now), now)
        case .nothing where answered.command.code == .removeAdvertising:
            carryOut(advertising.handle(.removed, now: now), now)
        case .indices(let indices):
            controllers.list(indices)
            setup.succeed()
        case .information(let information):
            if let index = answered.index { controllers.record(information, of: index) }
        case .settings(let settings):
            settle(settings, of: answered.index, now)
            setup.succeed()
        case .advertisingFeatures(let most):
            carryOut(advertising.handle(.counted(most), now: now), now)
        case .monitor, .nothing:
            carryOut(reception.handle(.completed(answered.command, reply), now: now), now)
        }
    }

    mutating func failed(_ answered: Pending, _ status: ManagementStatus, _ now: Instant) {
        pending = nil
        switch phase {
        case .preparing, .up: refused(answered, status, now)
        case .stopping(let refused):
            phase = .stopping(refused: refused + [answered.command.code])
        case .idle, .denied, .stopped: break
        }
    }

    private mutating func refused(
        _ answered: Pending, _ status: ManagementStatus, _ now: Instant
    ) {
        // A monitor that cannot be removed is not there any more, whatever the reason.
        let isRemoval = answered.command.code == .removeMonitor
        switch status {
        case .permissionDenied:
            notify(.permissionDenied)
            leave(for: .denied)
        case .invalidIndex where !isRemoval: remove(answered.index, now)
        case .rfkilled where !isRemoval:
            // The kernel says nothing when the block is lifted.
            setup.postpone(until: now + Self.rfkillPeriod)
            notify(.rfkilled)
        default: refused(answered.command, status, now)
        }
    }

    private mutating func refused(
        _ command: ManagementCommand, _ status: ManagementStatus, _ now: Instant
    ) {
        switch command {
        case .setConnectable: controllers.refuseConnectable()
        case .startDiscovery, .stopDiscovery, .addMonitor, .removeMonitor, .setPowered(false):
            carryOut(reception.handle(.refused(command, status), now: now), now)
        case .readAdvertisingFeatures where status.isLasting,
            .addAdvertising where status.isLasting || status == .invalidParameters:
            carryOut(advertising.handle(.unsupported, now: now), now)
            notify(.failed(command.code, status))
        case .addAdvertising: carryOut(advertising.handle(.refused(status), now: now), now)
        case .readIndexList, .readInformation, .readAdvertisingFeatures, .setPowered(true),
            .setLowEnergy, .removeAdvertising:
            setup.fail(now, using: &random)
            if status != .notPowered { notify(.failed(command.code, status)) }
        }
    }
}

extension ManagementStatus {
    /// It will be the same another time.
    fileprivate var isLasting: Bool { self == .unknownCommand || self == .notSupported }
}
