import NearbyCore

/// What the management interface tells.
extension AdapterMachine {
    private static let rfkillPeriod = Duration.seconds(5)

    mutating func receive(_ event: ManagementEvent, _ now: Instant) -> [Output] {
        switch event.body {
        case .completed(let code, let reply):
            return answered(code, event.index).map { completed($0, reply, now) } ?? []
        case .failed(let code, let status):
            return answered(code, event.index).map { failed($0, status, now) } ?? []
        case .indexAdded:
            add(event.index)
            return []
        case .indexRemoved: return remove(event.index, now)
        case .newSettings(let settings): return settle(settings, of: event.index, now)
        case .found, .discovering, .advertisingAdded, .advertisingRemoved, .monitorRemoved,
            .resumed, .other:
            return event.index == adapter?.index ? handle(event.body, now) : []
        }
    }

    /// To the controller in use.
    private mutating func handle(_ body: ManagementEvent.Body, _ now: Instant) -> [Output] {
        switch body {
        case .found(let address, let rssi, let data):
            return isUp ? receive(.found(data, from: address, rssi: rssi), now) : []
        case .discovering(let isOn):
            let isNews = !isOn && pending?.command != .stopDiscovery
            return isNews ? receive(.discoveryEnded, now) : []
        case .advertisingAdded(let instance):
            let isOurs = pending?.command.code == .addAdvertising
            return isOurs ? [] : advertise(.overwritten(instance: instance), now)
        case .advertisingRemoved(let instance): return advertise(.lost(instance: instance), now)
        case .monitorRemoved(let handle): return receive(.monitorRemoved(handle: handle), now)
        case .resumed: return advertise(.resumed, now)
        case .completed, .failed, .indexAdded, .indexRemoved, .newSettings, .other: return []
        }
    }

    // MARK: Controllers come and go

    private mutating func add(_ index: UInt16?) {
        guard let index else { return }
        controllers.insert(index)
        setup.succeed()
    }

    private mutating func remove(_ index: UInt16?, _ now: Instant) -> [Output] {
        guard let index else { return [] }
        if pending?.index == index { pending = nil }
        guard controllers.remove(index) else { return [] }
        setup.succeed()
        return switchPower(.controllerRemoved, now) + advertise(.controllerRemoved, now)
            + receive(.controllerRemoved, now) + notify(.gone)
    }

    private mutating func settle(
        _ settings: ControllerSettings, of index: UInt16?, _ now: Instant
    ) -> [Output] {
        guard let index, let before = controllers.apply(settings, to: index),
            index == adapter?.index, isRunning
        else { return [] }
        switch (before.contains(.powered), settings.contains(.powered)) {
        case (true, false): return switchedOff(now)
        case (false, true):
            setup.succeed()
            return receive(.poweredOn, now) + switchPower(.switchedOn, now)
        case (false, false), (true, true): return []
        }
    }

    private mutating func switchedOff(_ now: Instant) -> [Output] {
        if advertising.isExhausted {
            return advertise(.freed, now) + switchPower(.switchedOff(.freeingInstances), now)
        }
        let isOurs = reception.isCycling
        return switchPower(.switchedOff(isOurs ? .restartingReception : .others), now)
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
    ) -> [Output] {
        switch reply {
        case .nothing where answered.command.code == .addAdvertising: return advertise(.added, now)
        case .nothing where answered.command.code == .removeAdvertising:
            return advertise(.removed, now)
        case .indices(let indices):
            controllers.list(indices)
            setup.succeed()
        case .information(let information):
            if let index = answered.index { controllers.record(information, of: index) }
        case .settings(let settings):
            let outputs = settle(settings, of: answered.index, now)
            setup.succeed()
            return outputs
        case .advertisingFeatures(let most): return advertise(.counted(most), now)
        case .monitor, .nothing: return receive(.completed(answered.command, reply), now)
        }
        return []
    }

    mutating func failed(
        _ answered: Pending, _ status: ManagementStatus, _ now: Instant
    ) -> [Output] {
        pending = nil
        switch phase {
        case .preparing, .up: return refused(answered, status, now)
        case .stopping(let refused):
            phase = .stopping(refused: refused + [answered.command.code])
        case .idle, .denied, .stopped: break
        }
        return []
    }

    private mutating func refused(
        _ answered: Pending, _ status: ManagementStatus, _ now: Instant
    ) -> [Output] {
        // A monitor that cannot be removed is not there any more, whatever the reason.
        let isRemoval = answered.command.code == .removeMonitor
        switch status {
        case .permissionDenied: return notify(.permissionDenied) + stopRunning(for: .denied)
        case .invalidIndex where !isRemoval: return remove(answered.index, now)
        case .rfkilled where !isRemoval:
            // The kernel says nothing when the block is lifted.
            setup.postpone(until: now + Self.rfkillPeriod)
            return notify(.rfkilled)
        default: return refused(answered.command, status, now)
        }
    }

    private mutating func refused(
        _ command: ManagementCommand, _ status: ManagementStatus, _ now: Instant
    ) -> [Output] {
        switch command {
        case .setConnectable:
            controllers.refuseConnectable()
            return []
        case .setPowered(false) where power.isFreeing: return switchPower(.freeingRefused, now)
        case .startDiscovery, .stopDiscovery, .addMonitor, .removeMonitor, .setPowered(false):
            return receive(.refused(command, status), now)
        case .readAdvertisingFeatures where status.isLasting,
            .addAdvertising where status.isLasting || status == .invalidParameters:
            return advertise(.unsupported, now) + notify(.failed(command.code, status))
        case .addAdvertising: return advertise(.refused(status), now)
        case .readIndexList, .readInformation, .readAdvertisingFeatures, .setPowered(true),
            .setLowEnergy, .removeAdvertising:
            setup.fail(now, using: &random)
            return status == .notPowered ? [] : notify(.failed(command.code, status))
        }
    }
}

extension ManagementStatus {
    /// It will be the same another time.
    fileprivate var isLasting: Bool { self == .unknownCommand || self == .notSupported }
}
