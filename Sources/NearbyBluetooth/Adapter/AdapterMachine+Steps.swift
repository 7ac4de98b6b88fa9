import NearbyCore

/// What is the next command, and what follows from its answer.
extension AdapterMachine {
    static let commandTime = Duration.seconds(5)
    /// Firmware may have to be loaded first.
    static let powerTime = Duration.seconds(20)
    static let rfkillPeriod = Duration.seconds(5)
    /// Who switches the controller off after so long on is not at war with us.
    static let powerPeace = Duration.seconds(60)

    /// Sends the next command if none is under way.
    mutating func advance(_ now: Instant) {
        choose()
        announce(now)
        guard pending == nil else { return }
        switch phase {
        case .idle, .denied, .stopped: return
        case .running: if let next = wanted(now) { send(next.0, to: next.1, now) }
        case .stopping:
            if let chosen, let command = restoring { return send(command, to: chosen.index, now) }
            phase = .stopped
            outputs.append(.restored)
        }
    }

    private mutating func send(_ command: ManagementCommand, to index: UInt16?, _ now: Instant) {
        let isPower = command.code == .setPowered
        let time = isPower ? Self.powerTime : Self.commandTime
        pending = Pending(command: command, index: index, deadline: now + time)
        outputs.append(.send(command, to: index))
    }

    // MARK: Towards links

    private mutating func wanted(_ now: Instant) -> (ManagementCommand, UInt16?)? {
        guard setup.isDue(now) else { return nil }
        guard let controllers else { return (.readIndexList, nil) }
        if let unread = controllers.first(where: { $0.information == nil }) {
            return (.readInformation, unread.index)
        }
        guard let chosen, let information = self.information else {
            say(.noController)
            return nil
        }
        if hasLowEnergy, !information.current.contains(.lowEnergy) {
            return (.setLowEnergy(true), chosen.index)
        }
        if !information.current.contains(.powered) {
            return power.isDue(now) ? (.setPowered(true), chosen.index) : nil
        }
        if isStuck, renewal.isDue(now) { return (.setPowered(false), chosen.index) }
        if acceptsClassic, information.supported.contains(.classic),
            !information.current.contains(.connectable), !givenUp.contains(.setConnectable)
        {
            return (.setConnectable(true), chosen.index)
        }
        if instance == nil, !cannotAdvertise, hasLowEnergy {
            return (.readAdvertisingFeatures, chosen.index)
        }
        return operation(now).map { ($0, chosen.index) }
    }

    private mutating func operation(_ now: Instant) -> ManagementCommand? {
        guard isUp, hasLowEnergy else { return nil }
        if watchdog.isCycling { return .setPowered(false) }
        next = nil
        carryOut(monitor.handle(.turn, now: now), now)
        if let next { return next }
        guard let psm else { return nil }
        if !isAdvertising, !cannotAdvertise, let instance, advertising.isDue(now),
            let own = Advertisement(networkTag: networkTag, psm: psm, peerPrefix: peerPrefix)
        {
            return .addAdvertising(instance: instance, data: own.bytes)
        }
        carryOut(scans.handle(.turn, now: now), now)
        return next
    }

    /// The adapter is up when it is powered, can do LE, and is known well enough.
    private mutating func announce(_ now: Instant) {
        let isReady =
            phase == .running && (instance != nil || cannotAdvertise || !hasLowEnergy)
            && information?.current.contains(.powered) == true
            && information?.current.contains(.lowEnergy) == hasLowEnergy
        guard isReady != isUp else { return }
        isUp = isReady
        if let chosen, isReady {
            carryOut(scans.handle(.adapterUp, now: now), now)
            // The kernel kept the monitor, but may have forgotten to scan.
            carryOut(monitor.handle(.renew, now: now), now)
            carryOut(watchdog.handle(.adapterUp, now: now), now)
            say(.using(chosen))
            outputs.append(.up(chosen))
        } else {
            psm = nil
            // The controller is off or gone, and with it what it did; but `stop` has to end that.
            if phase == .running {
                isAdvertising = false
                carryOut(scans.handle(.adapterDown, now: now), now)
            }
            outputs.append(.down)
        }
    }

    /// An old controller without it serves peers of the configuration.
    var hasLowEnergy: Bool { information?.supported.contains(.lowEnergy) == true }

    // MARK: Back to what was found

    mutating func stop() {
        guard phase == .running else {
            phase = .stopped
            outputs.append(.restored)
            return
        }
        givenUp = []
        phase = .stopping
    }

    private var restoring: ManagementCommand? {
        guard let current = information?.current else { return nil }
        var commands: [ManagementCommand] = []
        if let command = scans.stopCommand { commands.append(command) }
        if let handle = monitor.handle, handle != MonitorMachine.all {
            commands.append(.removeMonitor(handle: handle))
        }
        if isAdvertising, let instance { commands.append(.removeAdvertising(instance: instance)) }
        let added = current.subtracting(found)
        if added.contains(.connectable), acceptsClassic { commands.append(.setConnectable(false)) }
        if watchdog.isCycling, found.contains(.powered), !current.contains(.powered) {
            commands.append(.setPowered(true))
        }
        if added.contains(.powered) { commands.append(.setPowered(false)) }
        // Without BR/EDR, LE cannot be switched off while the controller is on.
        if added.contains(.lowEnergy) { commands.append(.setLowEnergy(false)) }
        return commands.first { !givenUp.contains($0.code) }
    }
}
