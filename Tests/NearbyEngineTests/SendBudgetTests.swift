import NearbyCore
import Testing

@testable import NearbyEngine

struct SendBudgetTests {
    private func address(_ host: Int) -> TransportAddress {
        .ipv4(address: UInt32(host), port: 1)
    }

    private func flood(_ budget: inout SendBudget, _ kind: SendBudget.Kind) -> Int {
        (0..<1_000).count { budget.take(kind, to: address($0), reserved: 1, now: .zero) }
    }

    @Test func answersToUnknownChannelsLeaveTheOthersTheirPlaces() {
        var budget = SendBudget()
        #expect(flood(&budget, .unknownChannel) == Limits.unknownChannelAnswersPerSecond)
        #expect(flood(&budget, .request) == 3)
        #expect(flood(&budget, .nudge) == 1)
        #expect(flood(&budget, .answer) == 1)
        let later = Instant.zero + .seconds(1)
        let again = (0..<3).count { _ in
            budget.take(.unknownChannel, to: address(1), reserved: 1, now: later)
        }
        #expect(again == 1)
    }

    @Test(arguments: [SendBudget.Kind.answer, .infoReply, .nudge, .request, .unknownChannel])
    func noKindTakesTheLastPlaceOfAnother(_ kind: SendBudget.Kind) {
        var budget = SendBudget()
        #expect(flood(&budget, kind) >= 4)
        for other in [SendBudget.Kind.request, .nudge, .answer] {
            if other == kind || kind == .infoReply && other == .answer { continue }
            let hasPlace = budget.take(other, to: address(5_000), reserved: 1, now: .zero)
            #expect(hasPlace)
        }
    }

    /// A relay that starts sends three beacons in its first second, on each link two datagrams.
    @Test func beaconsOfTwoLinksKeepNobodyFromNudgingItsCollector() {
        var budget = SendBudget()
        for _ in 0..<6 { budget.countBeacons(2, now: .zero) }
        let others = [SendBudget.Kind.nudge, .request].count {
            budget.take($0, to: address(5_000), reserved: 4, now: .zero)
        }
        #expect(others == 0)
        let nudged = (0..<1_000).count {
            budget.take(.collectorNudge, to: address($0 / 2), reserved: 4, now: .zero)
        }
        #expect(nudged == Limits.collectorNudgesPerSecond)
        let later = Instant.zero + .milliseconds(1_500)
        let again = (0..<3).count { _ in
            budget.take(.collectorNudge, to: address(1), reserved: 4, now: later)
        }
        #expect(again == 1)
    }
}
