import NearbyCore
import Testing

@testable import NearbyBluetooth

struct MonitorMachineTests {
    private static let add = MonitorMachine.Output.send(.addMonitor(MonitorMachine.patterns))

    private func wanting() -> MonitorMachine {
        var monitor = MonitorMachine(seed: 1)
        _ = monitor.handle(.setWanted(true), now: .zero)
        return monitor
    }

    private func present(_ handle: UInt16 = 7) -> MonitorMachine {
        var monitor = wanting()
        _ = monitor.handle(.added(handle: handle), now: .zero)
        return monitor
    }

    private func turn(
        _ monitor: inout MonitorMachine, _ now: Instant = .zero
    ) -> [MonitorMachine.Output] {
        monitor.handle(.turn, now: now)
    }

    @Test func itIsSetWhileItIsWantedAndRemovedAfterwards() {
        var monitor = MonitorMachine(seed: 1)
        #expect(turn(&monitor) == [])
        #expect(monitor.duty == .nodes)
        _ = monitor.handle(.setWanted(true), now: .zero)
        #expect(monitor.duty == .sensors)
        #expect(turn(&monitor) == [Self.add])
        _ = monitor.handle(.added(handle: 7), now: .zero)
        #expect(monitor.duty == .relieved)
        #expect(monitor.handle == 7)
        #expect(turn(&monitor) == [])
        _ = monitor.handle(.setWanted(false), now: .zero)
        #expect(turn(&monitor) == [.send(.removeMonitor(handle: 7))])
        _ = monitor.handle(.removed(handle: 7), now: .zero)
        #expect(monitor.duty == .nodes)
        #expect(turn(&monitor) == [])
        #expect(monitor.nextDeadline == nil)
    }

    @Test func renewedItIsSetAgainAtOnce() {
        var monitor = present()
        _ = monitor.handle(.renew, now: .zero)
        #expect(monitor.duty == .relieved, "it may still hear somebody")
        #expect(turn(&monitor) == [.send(.removeMonitor(handle: 7))])
        _ = monitor.handle(.removed(handle: 7), now: .zero)
        #expect(monitor.nextDeadline == nil)
        #expect(turn(&monitor) == [Self.add])
    }

    @Test func takenAwayByOthersItIsSetAgainAfterAWhile() throws {
        var monitor = present()
        _ = monitor.handle(.removed(handle: 8), now: .zero)
        #expect(monitor.handle == 7, "that was another one")
        _ = monitor.handle(.removed(handle: 7), now: .zero)
        #expect(turn(&monitor) == [])
        let next = try #require(monitor.nextDeadline)
        #expect(next >= Instant.zero + .seconds(1))
        #expect(turn(&monitor, next) == [Self.add])
    }

    @Test func withoutRoomAllAreRemovedOnce() throws {
        var monitor = wanting()
        _ = monitor.handle(.refused(.noResources), now: .zero)
        #expect(turn(&monitor) == [.send(.removeMonitor(handle: MonitorMachine.all))])
        _ = monitor.handle(.removed(handle: MonitorMachine.all), now: .zero)
        #expect(turn(&monitor) == [Self.add])
        _ = monitor.handle(.refused(.noResources), now: .zero)
        #expect(turn(&monitor) == [], "it is not ours that take the room")
        let next = try #require(monitor.nextDeadline)
        #expect(turn(&monitor, next) == [Self.add])
        _ = monitor.handle(.added(handle: 1), now: next)
        _ = monitor.handle(.renew, now: next)
        _ = monitor.handle(.removed(handle: 1), now: next)
        _ = monitor.handle(.refused(.noResources), now: next)
        #expect(monitor.handle == MonitorMachine.all, "once for each that was set")
    }

    @Test(arguments: [ManagementStatus.unknownCommand, .notSupported, .invalidParameters])
    func whereThereAreNoneNoneIsAskedFor(_ status: ManagementStatus) {
        var monitor = wanting()
        let outputs = monitor.handle(.refused(status), now: .zero)
        #expect(outputs == [.cannotMonitor])
        #expect(monitor.isUnsupported)
        #expect(monitor.duty == .sensors)
        #expect(turn(&monitor, .zero + .seconds(3_600)) == [])
        _ = monitor.handle(.setWanted(false), now: .zero)
        #expect(monitor.duty == .nodesActively)
        _ = monitor.handle(.setWanted(true), now: .zero)
        _ = monitor.handle(.controllerRemoved, now: .zero)
        #expect(turn(&monitor) == [Self.add], "the next controller may have some")
    }

    @Test func otherRefusalsAreAnsweredByLongerAndLongerPauses() throws {
        var monitor = wanting()
        var waits: [Duration] = []
        var now = Instant.zero
        for _ in 0..<5 {
            #expect(turn(&monitor, now) == [Self.add])
            _ = monitor.handle(.refused(.busy), now: now)
            let next = try #require(monitor.nextDeadline)
            waits.append(next - now)
            now = next
            _ = monitor.handle(.deadlineReached, now: now)
            #expect(monitor.nextDeadline == nil)
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 }, "\(waits)")
    }
}
