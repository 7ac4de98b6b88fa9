import Fleet
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Outputs

struct HomeAssistantTests {
    private func kind(_ unit: String, _ name: String) throws -> HomeAssistantClass {
        HomeAssistantClass(try #require(Unit(unit)), channel: name)
    }

    @Test func unitsAreSpelledAsHomeAssistantDoes() throws {
        for (unit, name, word, device, state) in [
            ("Cel", "heat", "°C", "temperature", "measurement"),
            ("%RH", "air", "%", "humidity", "measurement"),
            ("hPa", "air", "hPa", "pressure", "measurement"),
            ("kWh", "meter", "kWh", "energy", "total_increasing"),
            ("mm", "Rain today", "mm", "precipitation", "measurement"),
            ("mm", "gap", "mm", "distance", "measurement"),
            ("m/s", "wind", "m/s", "wind_speed", "measurement"),
            ("%", "battery", "%", "battery", "measurement"),
            ("ppm", "co2", "ppm", "carbon_dioxide", "measurement"),
            ("ug/m3", "pm2.5", "µg/m³", "pm25", "measurement"),
            ("dBm", "rssi", "dBm", "signal_strength", "measurement"),
            ("lx", "light", "lx", "illuminance", "measurement"),
        ] {
            let found = try kind(unit, name)
            #expect(found.unit == word && found.device == device && found.state == state)
        }
    }

    @Test func whatHomeAssistantDoesNotKnowKeepsItsUnit() throws {
        let furlongs = try kind("furlong", "x")
        #expect(furlongs.unit == "furlong" && furlongs.device == nil)
        let none = HomeAssistantClass(.none, channel: "x")
        #expect(none.unit == nil && none.device == nil && none.state == "measurement")
        let count = try kind("count", "pulses")
        #expect(count.unit == nil && count.state == "total_increasing")
    }

    @Test func aChannelsEntityNamesEverythingThatHomeAssistantNeeds() {
        var options = TopicPublisher.Options()
        options.network = "lab"
        options.collector = Plant.collector
        options.homeAssistant = "ha"
        var publisher = TopicPublisher(options)
        let fleet = Plant.fleet(0, [(Plant.oven, "oven", true, 0)])
        let id = "rivulet_" + Plant.oven.description.filter { $0 != "-" }
        let text = publisher.messages(of: fleet, limit: 100).text("ha/sensor/\(id)/c-heat/config")
        let expected = #"""
            {"name":"heat","unique_id":"\#(id)_c-heat","state_topic":"rivulet/lab/oven/heat",\#
            "value_template":"{{ value_json.value }}","unit_of_measurement":"°C",\#
            "device_class":"temperature","state_class":"measurement",\#
            "suggested_display_precision":2,\#
            "availability":[{"topic":"\#(publisher.collectorTopic)"},\#
            {"topic":"rivulet/lab/oven/$availability"}],"availability_mode":"all",\#
            "device":{"identifiers":["\#(id)"],"name":"oven","manufacturer":"Rivulet",\#
            "model":"Pi 5","sw_version":"1.0","suggested_area":"Kitchen"},\#
            "origin":{"name":"Rivulet","sw_version":"1.0"}}
            """#
        #expect(text == expected)
    }

    @Test func aBatteryIsToldOnceAndOnlyWhereThereIsOne() {
        var options = TopicPublisher.Options()
        options.homeAssistant = "ha"
        var publisher = TopicPublisher(options)
        var fleet = Plant.fleet(0, [(Plant.oven, "oven", true, 0), (Plant.bench, "b", true, 0)])
        fleet.nodes[0].battery = 80
        fleet.nodes[1].battery = 80
        fleet.nodes[1].channels[0].name = "battery"
        fleet.nodes[1].channels[0].unit = .percent
        let topics = publisher.messages(of: fleet, limit: 100).messages.map(\.topic)
        #expect(topics.count { $0.hasSuffix("/n-battery/config") } == 1)
        #expect(topics.count { $0.hasSuffix("/c-battery/config") } == 1)
        #expect(topics.count { $0.hasSuffix("/n-signal/config") } == 0)
        #expect(topics.count { $0.hasSuffix("/n-link/config") } == 2)
    }

    @Test func statesExpireAfterTenTimesTheUsualInterval() {
        var estimate = ExpiryEstimate()
        for index: Int64 in 0..<8 { estimate.record(index * 10 * Plant.second) }
        #expect(estimate.seconds == nil)
        estimate.record(80 * Plant.second)
        #expect(estimate.seconds == 120)
        // Once a minute from now on.
        estimate.record(140 * Plant.second)
        #expect(estimate.seconds == 600)
        // Back again: it is not told something else all the time.
        for index: Int64 in 1..<20 { estimate.record((140 + index * 10) * Plant.second) }
        #expect(estimate.seconds == 600)
        for index: Int64 in 1..<20 { estimate.record((400 + index) * Plant.second) }
        #expect(estimate.seconds == 60)
        estimate.record(0)
        estimate.record(.max)
        estimate.record(.min)
        #expect(estimate.seconds == 604_800)
    }

    /// The real Home Assistant checks the file: Tests/Behind/homeassistant/discovery.sh.
    @Test func theListForHomeAssistantIsWhatWeSay() {
        let lines = HomeAssistantClass.all.map {
            "\($0.unit ?? "")\t\($0.device ?? "")\t\($0.state)\n"
        }
        let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/" + tests + "/Behind/homeassistant/classes.tsv"
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let file = open(path, O_RDONLY)
        let count = read(file, &bytes, bytes.count)
        close(file)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == lines.joined())
    }
}
