import NearbyCore
import Testing

@testable import NearbyBluetooth

struct ScanMachineTests {
    private func up() -> ScanMachine {
        var scans = ScanMachine(seed: 1)
        _ = scans.handle(.adapterUp, now: .zero)
        return scans
    }

    /// The first scan is over; the machine is content.
    private func content(_ duty: ScanDuty = .nodes) -> ScanMachine {
        var scans = up()
        _ = scans.handle(.setDuty(duty), now: .zero)
        _ = scans.handle(.discoveryStarted, now: .zero)
        _ = scans.handle(.stopped, now: .zero)
        _ = scans.handle(.setContent(true), now: .zero)
        return scans
    }

    private func turn(_ scans: inout ScanMachine, _ now: Instant) -> [ScanMachine.Output] {
        scans.handle(.turn, now: now)
    }

    private func seconds(_ instant: Instant?) -> Double? {
        instant.map { Double(($0 - .zero).milliseconds) / 1_000 }
    }

    @Test func theFirstScanIsLongAndOthersAreShortWithPauses() {
        var scans = up()
        #expect(turn(&scans, .zero) == [.send(.startDiscovery)])
        _ = scans.handle(.discoveryStarted, now: .zero)
        #expect(seconds(scans.nextDeadline) == 5)
        #expect(turn(&scans, .zero + .seconds(4)) == [])
        #expect(turn(&scans, .zero + .seconds(5)) == [.send(.stopDiscovery)])
        _ = scans.handle(.stopped, now: .zero + .seconds(5))
        #expect(seconds(scans.nextDeadline) == 8.5)
        let next = Instant.zero + .milliseconds(8_500)
        #expect(turn(&scans, next) == [.send(.startDiscovery)])
        _ = scans.handle(.discoveryStarted, now: next)
        #expect(seconds(scans.nextDeadline) == 10)
        #expect(scans.stopCommand == .stopDiscovery)
    }

    @Test func contentItScansPassivelyEveryHalfMinute() {
        var scans = content()
        let now = Instant.zero + .seconds(20)
        #expect(turn(&scans, now) == [.send(.addMonitor([.node]))])
        _ = scans.handle(.monitorAdded(handle: 3), now: now)
        #expect(seconds(scans.nextDeadline) == 21.5)
        let end = now + .milliseconds(1_500)
        #expect(turn(&scans, end) == [.send(.removeMonitor(handle: 3))])
        _ = scans.handle(.stopped, now: end)
        #expect(seconds(scans.nextDeadline) == 50)
    }

    @Test func theFirstScanIsNotPassive() {
        var scans = up()
        _ = scans.handle(.setContent(true), now: .zero)
        #expect(turn(&scans, .zero) == [.send(.startDiscovery)])
    }

    @Test func aPassiveScanThatOthersEndIsFollowedByTheNextInItsTime() {
        var scans = content()
        let now = Instant.zero + .seconds(20)
        _ = scans.handle(.monitorAdded(handle: 3), now: now)
        _ = scans.handle(.monitorRemoved(handle: 4), now: now)
        #expect(scans.stopCommand == .removeMonitor(handle: 3))
        _ = scans.handle(.monitorRemoved(handle: 3), now: now)
        #expect(scans.stopCommand == nil)
        #expect(seconds(scans.nextDeadline) == 50)
    }

    @Test func whereMonitorsAreRefusedScansStayActive() {
        var scans = content()
        let outputs = scans.handle(.monitorRefused, now: .zero)
        #expect(outputs == [.cannotMonitor])
        _ = scans.handle(.setDuty(.nodesActively), now: .zero)
        #expect(turn(&scans, .zero + .seconds(60)) == [.send(.startDiscovery)])
    }

    @Test func forSensorsScansAreLongAndFrequent() {
        var scans = content(.sensors)
        let now = Instant.zero + .seconds(20)
        #expect(turn(&scans, now) == [.send(.startDiscovery)])
        _ = scans.handle(.discoveryStarted, now: now)
        #expect(seconds(scans.nextDeadline) == 23)
        _ = scans.handle(.stopped, now: now + .seconds(3))
        #expect(seconds(scans.nextDeadline) == 30)
    }

    @Test func contentItLeavesNodesToTheMonitorThatLasts() {
        var scans = content(.relieved)
        #expect(scans.nextDeadline == nil)
        #expect(turn(&scans, .zero + .seconds(3_600)) == [])
        _ = scans.handle(.setContent(false), now: .zero + .seconds(3_600))
        #expect(seconds(scans.nextDeadline) == 3_600)
        #expect(turn(&scans, .zero + .seconds(3_600)) == [.send(.startDiscovery)])
    }

    @Test func aConnectEndsTheScanAndHoldsTheNextOneForAWhile() {
        var scans = up()
        _ = scans.handle(.discoveryStarted, now: .zero)
        _ = scans.handle(.setConnecting(true), now: .zero + .seconds(1))
        #expect(turn(&scans, .zero + .seconds(1)) == [.send(.stopDiscovery)])
        _ = scans.handle(.stopped, now: .zero + .seconds(1))
        #expect(seconds(scans.nextDeadline) == 21, "the pause, and 15 seconds")
        #expect(turn(&scans, .zero + .seconds(20)) == [])
        #expect(turn(&scans, .zero + .seconds(21)) == [.send(.startDiscovery)])
        _ = scans.handle(.setConnecting(false), now: .zero + .seconds(7))
        #expect(seconds(scans.nextDeadline) == 6)
    }

    @Test func somebodyElsesScanIsSharedAndFailuresAreTriedLaterAndLater() {
        var scans = up()
        _ = scans.handle(.discoveryRefused(.busy), now: .zero)
        #expect(seconds(scans.nextDeadline) == 5)
        var waits: [Double] = []
        for round in 1...6 {
            let now = Instant.zero + .seconds(Int64(round) * 1_000)
            _ = scans.handle(.discoveryRefused(.failed), now: now)
            waits.append((seconds(scans.nextDeadline) ?? 0) - Double(round) * 1_000)
            _ = scans.handle(.deadlineReached, now: now + .seconds(900))
        }
        #expect(waits.first == 5)
        #expect(waits.last.map { $0 >= 32 } == true, "\(waits)")
    }

    @Test func theKernelEndsActiveScansOnly() {
        var scans = up()
        _ = scans.handle(.discoveryStarted, now: .zero)
        _ = scans.handle(.discoveryEnded, now: .zero + .seconds(2))
        #expect(scans.stopCommand == nil)
        _ = scans.handle(.setContent(true), now: .zero + .seconds(2))
        _ = scans.handle(.monitorAdded(handle: 3), now: .zero + .seconds(20))
        _ = scans.handle(.discoveryEnded, now: .zero + .seconds(20))
        #expect(scans.stopCommand == .removeMonitor(handle: 3))
    }

    @Test func restartedAnActiveScanEndsAtOnce() {
        var scans = up()
        _ = scans.handle(.discoveryStarted, now: .zero)
        _ = scans.handle(.restart, now: .zero + .seconds(1))
        #expect(turn(&scans, .zero + .seconds(1)) == [.send(.stopDiscovery)])
    }

    @Test func aMonitorOutlastsTheControllersPower() {
        var scans = content()
        _ = scans.handle(.monitorAdded(handle: 3), now: .zero)
        let now = Instant.zero + .seconds(1)
        _ = scans.handle(.adapterDown, now: now)
        _ = scans.handle(.adapterUp, now: now)
        #expect(turn(&scans, now) == [.send(.removeMonitor(handle: 3))])
        _ = scans.handle(.controllerRemoved, now: now)
        #expect(scans.stopCommand == nil)
    }
}
