import NearbyCore

/// What is the next command, and what follows from its answer.
extension AdapterMachine {
    static let commandTime = Duration.seconds(5)
    /// Firmware may have to be loaded first.
    static let powerTime = Duration.seconds(20)
    /// A little more than the kernel's advertising interval of 1.28 s: one scan hears everybody.
    static let scanTime = Duration.milliseconds(1_500)
    static let firstScanTime = Duration.seconds(5)
    static let wantingPeriod = Duration.seconds(5)
    static let contentPeriod = Duration.seconds(30)
    /// For sensors, where nothing but our own scans hears them: three tenths of the time, as while
    /// wanting.
    static let sensorPeriod = Duration.seconds(10)
    static let sensorScanTime = Duration.seconds(3)
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
        if let command = listeningOperation(now) { return command }
        guard let psm else { return nil }
        if !isAdvertising, !cannotAdvertise, let instance, advertising.isDue(now),
            let own = Advertisement(networkTag: networkTag, psm: psm, peerPrefix: peerPrefix)
        {
            return .addAdvertising(instance: instance, data: own.bytes)
        }
        switch scan {
        case .off(let next):
            guard !needsNoScan, next + hold <= now, scanning.isDue(now) else { return nil }
            return isContent && !cannotMonitor && !isFirstScan && !scansForSensors
                ? .addMonitor([.node]) : .startDiscovery
        case .active(let until, _): return until <= now ? .stopDiscovery : nil
        case .passive(let handle, let until, _):
            return until <= now ? .removeMonitor(handle: handle) : nil
        }
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
            isFirstScan = true
            resetScan(now)
            beginListening(now)
            say(.using(chosen))
            outputs.append(.up(chosen))
        } else {
            psm = nil
            // The controller is off or gone, and with it what it did; but `stop` has to end that.
            if phase == .running {
                isAdvertising = false
                resetScan(now)
            }
            outputs.append(.down)
        }
    }

    /// The kernel keeps a monitor while the controller is off: it is still to be removed.
    private mutating func resetScan(_ now: Instant) {
        if case .passive(let handle, _, _) = scan {
            scan = .passive(handle: handle, until: now, next: now)
        } else {
            scan = .off(next: now)
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
        switch scan {
        case .off: break
        case .active: commands.append(.stopDiscovery)
        case .passive(let handle, _, _): commands.append(.removeMonitor(handle: handle))
        }
        if let monitor = listening.monitor, monitor != Self.allMonitors {
            commands.append(.removeMonitor(handle: monitor))
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
