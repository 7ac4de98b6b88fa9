import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct HopMachineTests {
    private let wifi = LinkChoiceTests.wifi
    private let bluetooth = LinkChoiceTests.bluetooth

    private func hop(_ path: LinkPath) -> HopMachine {
        HopMachine(path: path, decides: true, seed: 1, now: .zero)
    }

    /// Data goes out, and nothing comes back until the machine says something of the link.
    private func suspect(_ hop: inout HopMachine) -> [HopMachine.Output] {
        var outputs = hop.handle(.frameSent(isData: true), now: .zero)
        while let deadline = hop.nextDeadline, deadline < .zero + .seconds(2) {
            outputs = hop.handle(.deadlineReached, now: deadline)
            let isNews = outputs.contains { if case .send = $0 { false } else { true } }
            if isNews { break }
            _ = hop.handle(.frameSent(isData: false), now: deadline)
        }
        return outputs
    }

    @Test func aSilentHopWithoutAStandbyIsRoutedAround() {
        var hop = hop(wifi)
        let outputs = suspect(&hop)
        #expect(outputs.contains(.costChanged(RoutingMessage.metricInfinite)))
        #expect(hop.endpoint == wifi.endpoint)
        #expect(hop.cost == RoutingMessage.metricInfinite)
    }

    @Test func aStandbyTakesOverAtItsOwnCost() {
        var hop = hop(wifi)
        #expect(hop.handle(.answered(bluetooth), now: .zero) == [])
        let outputs = suspect(&hop)
        let cost = LinkClass.bluetooth.cost
        #expect(outputs.prefix(2) == [.moved(bluetooth), .costChanged(cost)])
        #expect(hop.endpoint == bluetooth.endpoint)
        #expect(hop.cost == cost)
    }

    @Test func aProbeOverAnotherLinkIsAnsweredThere() {
        var hop = hop(wifi)
        let outputs = hop.handle(.received(.probe, from: bluetooth), now: .zero)
        #expect(outputs.contains(.answerProbe(at: bluetooth.endpoint)))
        #expect(hop.endpoint == wifi.endpoint)
        let onTheSame = hop.handle(.received(.probe, from: wifi), now: .zero)
        #expect(onTheSame == [.send(LivenessFrame.answer.bytes)])
    }

    @Test func whereNobodyIsProvedToBeItIsRoutedAroundAtOnce() {
        var hop = hop(wifi)
        let outputs = hop.handle(.unreachable, now: .zero)
        #expect(outputs.contains(.costChanged(RoutingMessage.metricInfinite)))
        #expect(outputs.contains(.send(LivenessFrame.probe.bytes)))
        #expect(hop.handle(.unreachable, now: .zero) == [])
    }

    @Test func whereNobodyIsProvedToBeAStandbyTakesOverAtOnce() {
        var hop = hop(wifi)
        #expect(hop.handle(.answered(bluetooth), now: .zero) == [])
        let outputs = hop.handle(.unreachable, now: .zero)
        #expect(outputs.contains(.moved(bluetooth)))
        #expect(hop.endpoint == bluetooth.endpoint)
    }

    @Test func aLinkThatGoesDownWithoutAnotherIsTheEnd() {
        var hop = hop(wifi)
        #expect(hop.handle(.linkDown(bluetooth.endpoint.link), now: .zero) == [])
        #expect(hop.handle(.linkDown(wifi.endpoint.link), now: .zero) == [.lost])
    }
}
