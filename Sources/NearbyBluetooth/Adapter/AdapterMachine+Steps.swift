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
    mutating func advance(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        if isRunning {
            controllers.choose(selection, acceptsClassic: acceptsClassic)
            outputs = announce(now)
        }
        guard pending == nil else { return outputs }
        switch phase {
        case .idle, .denied, .stopped: return outputs
        case .preparing, .up:
            for step in Self.steps {
                outputs += perform(step, now)
                guard pending == nil, mayPass(step, now) else { break }
            }
            return outputs
        case .stopping(let refused):
            if let command = restoringCommand(unless: refused) {
                return outputs + [send(command, now)]
            }
            phase = .stopped
            return outputs + [.restored]
        }
    }

    /// To the controller in use.
    private mutating func send(_ command: ManagementCommand, _ now: Instant) -> Output {
        send(command, to: adapter?.index, now)
    }

    private mutating func send(
        _ command: ManagementCommand, to index: UInt16?, _ now: Instant
    ) -> Output {
        let time = command.code == .setPowered ? Self.powerTime : Self.commandTime
        pending = Pending(command: command, index: index, deadline: now + time)
        return .send(command, to: index)
    }

    // MARK: Towards links

    /// The command that a step needs, if it needs one now.
    private mutating func perform(_ step: Step, _ now: Instant) -> [Output] {
        switch step {
        case .pause, .up, .listener: return []
        case .list: return controllers.isListed ? [] : [send(.readIndexList, to: nil, now)]
        case .information:
            return controllers.unread.map { [send(.readInformation, to: $0, now)] } ?? []
        case .choice: return adapter == nil ? notify(.noController) : []
        case .lowEnergy:
            let isMissing = hasLowEnergy && !current.contains(.lowEnergy)
            return isMissing ? [send(.setLowEnergy(true), now)] : []
        case .power: return current.contains(.powered) ? [] : switchPower(.switchOn, now)
        case .freeInstances: return advertising.isExhausted ? switchPower(.freeInstances, now) : []
        case .connectable: return needsConnectable ? [send(.setConnectable(true), now)] : []
        case .countInstances:
            let isNeeded = advertising.isUncounted && hasLowEnergy
            return isNeeded ? [send(.readAdvertisingFeatures, now)] : []
        case .reception: return receive(.turn, now)
        case .advertisement: return advertise(now)
        case .scan: return receive(.scanTurn, now)
        }
    }

    /// Whether the next step may follow where nothing was sent.
    private mutating func mayPass(_ step: Step, _ now: Instant) -> Bool {
        switch step {
        case .pause: setup.isDue(now)
        case .choice: adapter != nil
        case .power: current.contains(.powered)
        case .up: isUp && hasLowEnergy
        case .listener: psm != nil
        case .list, .information, .lowEnergy, .freeInstances, .connectable, .countInstances,
            .reception, .advertisement, .scan:
            true
        }
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

    private mutating func advertise(_ now: Instant) -> [Output] {
        guard let psm,
            let own = Advertisement(networkTag: networkTag, psm: psm, peerPrefix: peerPrefix)
        else { return [] }
        return advertise(.turn(own), now)
    }

    // MARK: Up and down

    /// The adapter is up when it is powered, can do LE, and is known well enough.
    private var isReady: Bool {
        guard let information = controllers.information else { return false }
        return (!advertising.isUncounted || !hasLowEnergy)
            && information.current.contains(.powered)
            && information.current.contains(.lowEnergy) == hasLowEnergy
    }

    private mutating func announce(_ now: Instant) -> [Output] {
        guard isReady != isUp else { return [] }
        if let adapter, isReady {
            phase = .up(psm: nil)
            return receive(.adapterUp, now) + notify(.using(adapter)) + [.up(adapter)]
        }
        // The controller is off or gone, and with it what it did.
        return stopRunning(for: .preparing) + advertise(.adapterDown, now)
            + receive(.adapterDown, now)
    }

    // MARK: The machines

    mutating func switchPower(_ input: PowerMachine.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in power.handle(input, now: now) {
            switch output {
            case .send(let command): outputs.append(send(command, now))
            case .switchedOffByOthers: outputs += notify(.poweredOff)
            }
        }
        return outputs
    }

    mutating func advertise(_ input: AdvertisingMachine.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in advertising.handle(input, now: now) {
            switch output {
            case .send(let command): outputs.append(send(command, now))
            }
        }
        return outputs
    }

    mutating func receive(_ input: Reception.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in reception.handle(input, now: now) {
            switch output {
            case .send(let command): outputs.append(send(command, now))
            case .heard(let advertisement, let address):
                outputs.append(.heard(advertisement, from: address))
            case .advertisement(let data, let address, let rssi):
                outputs.append(.advertisement(data, from: address, rssi: rssi))
            case .otherNetwork(let prefix, let address):
                outputs.append(.diagnostic(.otherNetwork(prefix, address)))
            case .cannotMonitor: outputs += notify(.cannotMonitor)
            case .receptionLost: outputs += notify(.receptionLost)
            case .cycling: outputs += notify(.cycling)
            case .receptionRestored: outputs += notify(.receptionRestored)
            case .drop(let reason, let count): outputs.append(.drop(reason, count: count))
            }
        }
        return outputs
    }

    // MARK: Back to what was found

    /// The first that is still to be done; what was refused is left out.
    private func restoringCommand(unless refused: [ManagementCommand.Code]) -> ManagementCommand? {
        guard let inUse = controllers.inUse, let current = controllers.information?.current
        else { return nil }
        let added = current.subtracting(inUse.found)
        let isSwitchedOff =
            (reception.isCycling || power.isFreeing) && inUse.found.contains(.powered)
            && !current.contains(.powered)
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
