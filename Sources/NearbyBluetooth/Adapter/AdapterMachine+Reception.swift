import NearbyCore

/// What the machines of reception tell.
extension AdapterMachine {
    mutating func setListening(_ isWanted: Bool, _ now: Instant) {
        carryOut(monitor.handle(.setWanted(isWanted), now: now), now)
        carryOut(watchdog.handle(.setWanted(isWanted), now: now), now)
    }

    var receptionDeadline: Instant? {
        guard isUp, hasLowEnergy else { return nil }
        let next = min(
            watchdog.nextDeadline ?? .distantFuture, monitor.nextDeadline ?? .distantFuture)
        // No scan before somebody can connect to us.
        return psm == nil ? next : min(next, scans.nextDeadline ?? .distantFuture)
    }

    mutating func carryOut(_ outputs: [ReceptionWatchdog.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .restart:
                carryOut(monitor.handle(.renew, now: now), now)
                carryOut(scans.handle(.restart, now: now), now)
            case .deaf: say(.deaf)
            case .cycle: say(.cycling)
            case .hearing: say(.hearing)
            }
        }
    }

    mutating func carryOut(_ outputs: [MonitorMachine.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .send(let command): next = command
            case .cannotMonitor: say(.cannotMonitor)
            }
        }
        carryOut(scans.handle(.setDuty(monitor.duty), now: now), now)
    }

    mutating func carryOut(_ outputs: [ScanMachine.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .send(let command): next = command
            case .cannotMonitor: carryOut(monitor.handle(.unsupported, now: now), now)
            }
        }
    }
}
