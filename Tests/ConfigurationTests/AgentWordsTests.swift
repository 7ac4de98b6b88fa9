import NearbyCore
import Telemetry
import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct AgentWordsTests {
    @Test func everythingThatIsSaidIsRead() throws {
        let text = """
            role: collector
            agents:
              - node: old-1
                rename: greenhouse
                labels: {site: north}
                channels:
                  t1: {rename: air, sent-in: "[degF]", unit: Cel, scale: 1.01, offset: -0.3}
                  "h*": {unit: "%RH"}
              - {node: "*", labels: {owner: me}}
            """
        guard case .good(let settings) = Sample.whole(text) else {
            Issue.record("\(Sample.mistakes(text))")
            return
        }
        #expect(settings.agents.map(\.node) == ["old-1", "*"])
        let first = try #require(settings.agents.first)
        #expect(first.rename == "greenhouse")
        #expect(first.labels == [Label(key: "site", value: "north")])
        #expect(first.channels.map(\.channel) == ["h*", "t1"])
        let channel = try #require(first.channels.last)
        #expect(channel.rename == "air")
        #expect(channel.sentIn?.name == "[degF]")
        #expect(channel.unit == .celsius)
        #expect(channel.scale == DecimalValue(coefficient: 101, exponent: -2))
        #expect(channel.offset == DecimalValue(coefficient: -3, exponent: -1))
    }

    @Test func eachMistakeIsNamed() {
        let text = """
            role: collector
            agents:
              - {node: "old-*", rename: one}
              - node: north
                channels:
                  a: {rename: x, scale: 0}
                  b: {rename: x, sent-in: Pa, unit: Cel}
                  "t*": {rename: y}
                  c: {unit: [degF]}
              - {node: south}
              - {rename: west}
            """
        let pressures = UnitConversion.targets(of: "Pa").joined(separator: ", ")
        #expect(
            Sample.mistakes(text) == [
                "4:29: rename would give one name to all nodes that old-* matches; write the "
                    + "name or the PeerID of one",
                "7:7: two channels are called x",
                "7:29: scale is 0; every value would be 0",
                "8:41: values in Pa cannot be converted to Cel; write \(pressures)",
                "9:22: rename would give one name to all channels that t* matches; write the "
                    + "name of one",
                "10:17: unit stands in brackets without quotation marks; write \"[degF]\"",
                "11:12: nothing is set for south",
                "12:5: agents needs the key node; it must be text of 1 to 95 bytes without "
                    + "control characters",
            ])
    }

    @Test func agentsAndRelaysHaveNone() {
        let text = "role: relay\nagents: [{node: a, rename: b}]"
        #expect(
            Sample.mistakes(text) == [
                "3:9: agents is for collectors and viewers; leave it out here"
            ])
    }
}
