import NearbyCore

/// What is the next command.
extension AdapterMachine {
    /// What links need, in this order: the first that is missing decides what is sent.
    private enum Step: CaseIterable {
        /// After a failure.
        case pause
        case list, information, choice, lowEnergy, power
        case freeInstances, connectable, countInstances
        /// Nothing that follows can do without it.
        case up
        case reception
        /// Who cannot be connected to neither advertises nor scans for nodes.
        case listener
        case advertisement, scan
    }

    private static let commandTime = Duration.seconds(5)
    /// Firmware may have to be loaded first.
    private static let powerTime = Duration.seconds(20)
    private static let steps = Step.allCases

    /// Sends the next command if none is under way.
    mutating func advance(_ now: Instant) {
        if isRunning {
            controllers.choose(selection, acceptsClassic: acceptsClassic)
            announce(now)
        }
        guard pending == nil else { return }
        switch phase {
        case .idle, .denied, .stopped: return
        case .preparing, .up:
            for step in Self.steps {
                guard go(through: step, now), pending == nil else { return }
            }
        case .stopping(let refused):
            if let command = restoringCommand(unless: refused) { return send(command, now) }
            phase = .stopped
            outputs.append(.restored)
        }
    }

    /// To the controller in use.
    private mutating func send(_ command: ManagementCommand, _ now: Instant) {
        send(command, to: adapter?.index, now)
    }

    private mutating func send(_ command: ManagementCommand, to index: UInt16?, _ now: Instant) {
        let time = command.code == .setPowered ? Self.powerTime : Self.commandTime
        pending = Pending(command: command, index: index, deadline: now + time)
        outputs.append(.send(command, to: index))
    }

    // MARK: Towards links

    /// Sends the command that a step needs, if it needs one now.
    ///
    /// - Returns: whether the next step may follow where nothing was sent.
    private mutating func go(through step: Step, _ now: Instant) -> Bool {
        switch step {
        case .pause: return setup.isDue(now)
        case .list: if !controllers.isListed { send(.readIndexList, to: nil, now) }
        case .information:
            if let index = controllers.unread { send(.readInformation, to: index, now) }
        case .choice:
            guard adapter == nil else { break }
            notify(.noController)
            return false
        case .lowEnergy:
            if hasLowEnergy, !current.contains(.lowEnergy) { send(.setLowEnergy(true), now) }
        case .power:
            guard !current.contains(.powered) else { break }
            carryOut(power.handle(.switchOn, now: now), now)
            return false
        case .freeInstances:
            if advertising.isExhausted { carryOut(power.handle(.freeInstances, now: now), now) }
        case .connectable: if needsConnectable { send(.setConnectable(true), now) }
        case .countInstances:
            if advertising.isUncounted, hasLowEnergy { send(.readAdvertisingFeatures, now) }
        case .up: return isUp && hasLowEnergy
        case .reception: carryOut(reception.handle(.turn, now: now), now)
        case .listener: return psm != nil
        case .advertisement: advertise(now)
        case .scan: carryOut(reception.handle(.scanTurn, now: now), now)
        }
        return true
    }

    private var current: ControllerSettings { controllers.information?.current ?? [] }

    private var needsConnectable: Bool {
        guard acceptsClassic, let information = controllers.information else { return false }
        return information.supported.contains(.classic)
            && !information.current.contains(.connectable)
            && controllers.inUse?.refusesConnectable == false
    }

    private var psm: UInt8? {
        if case .up(let psm) = phase { psm } else { nil }
    }

    private mutating func advertise(_ now: Instant) {
        guard let psm,
            let own = Advertisement(networkTag: networkTag, psm: psm, peerPrefix: peerPrefix)
        else { return }
        carryOut(advertising.handle(.turn(own), now: now), now)
    }

    // MARK: Up and down

    /// The adapter is up when it is powered, can do LE, and is known well enough.
    private var isReady: Bool {
        guard let information = controllers.information else { return false }
        return (!advertising.isUncounted || !hasLowEnergy)
            && information.current.contains(.powered)
            && information.current.contains(.lowEnergy) == hasLowEnergy
    }

    private mutating func announce(_ now: Instant) {
        guard isReady != isUp else { return }
        if let adapter, isReady {
            phase = .up(psm: nil)
            carryOut(reception.handle(.adapterUp, now: now), now)
            notify(.using(adapter))
            outputs.append(.up(adapter))
        } else {
            leave(for: .preparing)
            // The controller is off or gone, and with it what it did.
            carryOut(advertising.handle(.adapterDown, now: now), now)
            carryOut(reception.handle(.adapterDown, now: now), now)
        }
    }

    // MARK: What the machines want

    mutating func carryOut(_ outputs: [PowerMachine.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .send(let command): send(command, now)
            case .switchedOffByOthers: notify(.poweredOff)
            }
        }
    }

    mutating func carryOut(_ outputs: [AdvertisingMachine.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .send(let command): send(command, now)
            }
        }
    }

    mutating func carryOut(_ outputs: [Reception.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .send(let command): send(command, now)
            case .heard(let advertisement, let address):
                self.outputs.append(.heard(advertisement, from: address))
            case .advertisement(let data, let address, let rssi):
                self.outputs.append(.advertisement(data, from: address, rssi: rssi))
            case .otherNetwork(let prefix, let address):
                self.outputs.append(.notice(.otherNetwork(prefix, address)))
            case .cannotMonitor: notify(.cannotMonitor)
            case .receptionLost: notify(.receptionLost)
            case .cycling: notify(.cycling)
            case .receptionRestored: notify(.receptionRestored)
            }
        }
    }

    // MARK: Back to what was found

    /// The first that is still to be done; what was refused is left out.
    private func restoringCommand(unless refused: [ManagementCommand.Code]) -> ManagementCommand? {
        guard let inUse = controllers.inUse, let current = controllers.information?.current
        else { return nil }
        let added = current.subtracting(inUse.found)
        let isSwitchedOff =
            reception.isCycling && inUse.found.contains(.powered) && !current.contains(.powered)
        let commands: [ManagementCommand?] = [
            advertising.advertised.map { .removeAdvertising(instance: $0) },
            acceptsClassic && added.contains(.connectable) ? .setConnectable(false) : nil,
            isSwitchedOff ? .setPowered(true) : nil,
            added.contains(.powered) ? .setPowered(false) : nil,
            // Without BR/EDR, LE cannot be switched off while the controller is on.
            added.contains(.lowEnergy) ? .setLowEnergy(false) : nil,
        ]
        return (reception.stopCommands + commands.compactMap { $0 })
            .first { !refused.contains($0.code) }
    }
}
