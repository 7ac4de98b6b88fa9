import NearbyCore
import NearbyLinux

/// All own peers of the process on the background thread.
final class Stations {
    private let background: Background
    private let bell: FileDescriptor
    private let loop: EventLoop
    private var stations: [PeerID: Station] = [:]
    /// Set when a station may have nothing more to do: it is closed when its handlers are done.
    private var idleTimer: EventLoop.TimerID?

    init(_ background: Background, bell: FileDescriptor) throws(SystemError) {
        self.background = background
        self.bell = bell
        loop = try EventLoop()
    }

    /// Until there is nothing more to do.
    func serve() throws(SystemError) {
        try loop.register(bell.raw) { [unowned self] _ in commandsCame() }
        idleTimer = loop.addTimer { [unowned self] _ in endIfIdle() }
        try loop.run()
        for station in stations.values { station.close() }
    }

    private func commandsCame() {
        if background.isEnding {
            let now = MonotonicClock.now()
            for station in stations.values { station.stopAll(now) }
            stations = [:]
        }
        for command in background.takeCommands(bell) { carryOut(command) }
        endIfIdle()
    }

    private func carryOut(_ command: Command) {
        guard let own = command.own else {
            for station in stations.values { station.carryOut(command) }
            return
        }
        if let station = stations[own.peer.id] { return station.carryOut(command) }
        guard command.begins else {
            return command.fail(NearbyError(.notConnected, "the session has ended"))
        }
        let station: Station
        do throws(NearbyError) {
            station = try Station(own, usesBluetooth: stations.isEmpty, loop: loop)
        } catch {
            return command.fail(error)
        }
        station.onIdle = { [unowned self] in
            if let idleTimer { loop.set(idleTimer, to: .zero) }
        }
        stations[own.peer.id] = station
        station.carryOut(command)
    }

    private func endIfIdle() {
        for (peer, station) in stations where station.isIdle {
            station.close()
            stations[peer] = nil
        }
        if stations.isEmpty, background.endIfIdle() { loop.stop() }
    }
}
