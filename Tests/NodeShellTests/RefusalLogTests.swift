import NearbyCore
import NearbyEngine
import Testing

@testable import NodeShell

struct RefusalLogTests {
    private func refusal(
        _ peer: UInt64?, _ reason: DropReason = .handshakeFailed, host: UInt32 = 1,
        port: UInt16 = 9, line: String = "no"
    ) -> RefusalLog.Input {
        .refused(
            peer.map { PeerID(high: $0, low: 0) }, reason,
            at: Endpoint(link: LinkID(value: 1), address: .ipv4(address: host, port: port)),
            line: line)
    }

    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test func aRefusalIsToldOnceAndThenSummedUpEachMinute() {
        var log = RefusalLog()
        #expect(log.handle(refusal(1), now: at(0)) == [.write("no")])
        for port in 1...500 {
            #expect(log.handle(refusal(1, port: UInt16(port)), now: at(1)).isEmpty)
        }
        #expect(log.nextDeadline == at(60))
        #expect(
            log.handle(.deadlineReached, now: at(60)) == [.write("no (500 more times)")])
        #expect(log.handle(refusal(1), now: at(61)).isEmpty)
        #expect(log.handle(.deadlineReached, now: at(120)) == [.write("no (1 more times)")])
        #expect(log.handle(.deadlineReached, now: at(180)).isEmpty)
        #expect(log.nextDeadline == nil)
        #expect(log.handle(refusal(1), now: at(200)) == [.write("no")])
    }

    @Test func othersAreToldBesideIt() {
        var log = RefusalLog()
        for host in 1...3 as ClosedRange<UInt32> {
            #expect(log.handle(refusal(1, host: host), now: at(0)) == [.write("no")])
        }
        #expect(log.handle(refusal(2), now: at(0)) == [.write("no")])
        #expect(log.handle(refusal(2, .admissionSecret), now: at(0)) == [.write("no")])
    }

    @Test func aFloodOfInventedPeersIsAHandfulOfLines() {
        var log = RefusalLog()
        var lines: [RefusalLog.Output] = []
        for index in 0..<20_000 as Range<UInt64> {
            let now = at(0) + .microseconds(500 * Int64(index))
            lines += log.handle(refusal(index, host: UInt32(index)), now: now)
        }
        #expect(lines.count == 8)
        lines = log.handle(.deadlineReached, now: at(70))
        #expect(
            lines == [
                .write("handshake-failed: 19992 more, by others than those named before")
            ])
        #expect(log.nextDeadline == nil)
    }

    @Test func theTableIsBoundedOverAllReasons() {
        var log = RefusalLog()
        var lines = 0
        for reason in DropReason.allCases {
            for peer in 0..<20 as Range<UInt64> {
                lines += log.handle(refusal(peer, reason), now: at(0)).count
            }
        }
        #expect(lines == 64)
    }
}
