import NearbyCore

/// What the management interface tells.
extension AdapterMachine {
    private static let rfkillPeriod = Duration.seconds(5)

    mutating func receive(_ event: ManagementEvent, _ now: Instant) {
        switch event.body {
        case .completed(let code, let reply):
            if let answered = answered(code, event.index) { completed(answered, reply, now) }
        case .failed(let code, let status):
            if let answered = answered(code, event.index) { failed(answered, status, now) }
        case .indexAdded: add(event.index)
        case .indexRemoved: remove(event.index, now)
        case .newSettings(let settings): settle(settings, of: event.index, now)
        case .found, .discovering, .advertisingAdded, .advertisingRemoved, .monitorRemoved,
            .resumed:
            if event.index == adapter?.index { receiveOfAdapter(event.body, now) }
        case .other: break
        }
    }

    private mutating func receiveOfAdapter(_ body: ManagementEvent.Body, _ now: Instant) {
        switch body {
        case .found(let address, let rssi, let data):
            if isUp { hear(data, from: address, rssi: rssi, now) }
        case .discovering(false) where pending?.command != .stopDiscovery:
            carryOut(scans.handle(.discoveryEnded, now: now), now)
        case .advertisingAdded(let instance) where pending?.command.code != .addAdvertising:
            carryOut(advertising.handle(.overwritten(instance: instance), now: now), now)
        case .advertisingRemoved(let instance):
            carryOut(advertising.handle(.lost(instance: instance), now: now), now)
        case .monitorRemoved(let handle):
            carryOut(monitor.handle(.removed(handle: handle), now: now), now)
            carryOut(scans.handle(.monitorRemoved(handle: handle), now: now), now)
        case .resumed: carryOut(advertising.handle(.resumed, now: now), now)
        default: break
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
        carryOut(monitor.handle(.controllerRemoved, now: now), now)
        carryOut(scans.handle(.controllerRemoved, now: now), now)
        carryOut(watchdog.handle(.controllerRemoved, now: now), now)
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
            carryOut(watchdog.handle(.poweredOn, now: now), now)
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
        } else if watchdog.isCycling {
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
        case .nothing: completed(answered.command, now)
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
        case .monitor(let handle):
            if answered.command == .addMonitor(MonitorMachine.patterns) {
                carryOut(monitor.handle(.added(handle: handle), now: now), now)
            } else {
                carryOut(scans.handle(.monitorAdded(handle: handle), now: now), now)
            }
        }
    }

    private mutating func completed(_ command: ManagementCommand, _ now: Instant) {
        switch command {
        case .addAdvertising: carryOut(advertising.handle(.added, now: now), now)
        case .removeAdvertising: carryOut(advertising.handle(.removed, now: now), now)
        case .startDiscovery: carryOut(scans.handle(.discoveryStarted, now: now), now)
        case .stopDiscovery: carryOut(scans.handle(.stopped, now: now), now)
        case .removeMonitor(let handle): monitorRemoved(handle, now)
        // Their answers carry something.
        case .readIndexList, .readInformation, .setPowered, .setLowEnergy, .setConnectable,
            .readAdvertisingFeatures, .addMonitor:
            break
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

    /// Some reasons concern everything that would follow; a monitor that cannot be removed is gone
    /// for whatever other reason.
    private mutating func refused(
        _ answered: Pending, _ status: ManagementStatus, _ now: Instant
    ) {
        switch (status, answered.command) {
        case (.permissionDenied, _):
            notify(.permissionDenied)
            leave(for: .denied)
        case (_, .removeMonitor(let handle)): monitorRemoved(handle, now)
        case (.invalidIndex, _): remove(answered.index, now)
        case (.rfkilled, _):
            // The kernel says nothing when the block is lifted.
            setup.postpone(until: now + Self.rfkillPeriod)
            notify(.rfkilled)
        case (_, let command): refused(command, status, now)
        }
    }

    private mutating func refused(
        _ command: ManagementCommand, _ status: ManagementStatus, _ now: Instant
    ) {
        switch command {
        case .setConnectable: controllers.refuseConnectable()
        case .setPowered(false): carryOut(watchdog.handle(.powerOffRefused, now: now), now)
        case .startDiscovery:
            carryOut(scans.handle(.discoveryRefused(status), now: now), now)
        case .stopDiscovery: carryOut(scans.handle(.stopped, now: now), now)
        case .addMonitor(MonitorMachine.patterns):
            carryOut(monitor.handle(.refused(status), now: now), now)
        case .addMonitor: carryOut(scans.handle(.monitorRefused, now: now), now)
        case .removeMonitor(let handle): monitorRemoved(handle, now)
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

    /// Ours that lasts, or that of a passive scan.
    private mutating func monitorRemoved(_ handle: UInt16, _ now: Instant) {
        if handle == monitor.handle {
            carryOut(monitor.handle(.removed(handle: handle), now: now), now)
        } else {
            carryOut(scans.handle(.stopped, now: now), now)
        }
    }
}

extension ManagementStatus {
    /// It will be the same another time.
    fileprivate var isLasting: Bool { self == .unknownCommand || self == .notSupported }
}
