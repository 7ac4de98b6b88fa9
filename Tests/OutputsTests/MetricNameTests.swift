import NearbyCore
import Telemetry
import Testing

@testable import Outputs

@Suite struct MetricNameTests {
    @Test(arguments: [
        ("temperature", "Cel", "rivulet_temperature_celsius"),
        ("temperature_celsius", "Cel", "rivulet_temperature_celsius"),
        ("cpu.temp", "mCel", "rivulet_cpu_temp_celsius"),
        ("Luftdruck", "hPa", "rivulet_luftdruck_pascals"),
        ("disk./.used", "%", "rivulet_disk_used_ratio"),
        ("humidity", "%RH", "rivulet_humidity_ratio"),
        ("co2", "ppm", "rivulet_co2_parts_per_million"),
        ("pm2.5", "ug/m3", "rivulet_pm2_5_grams_per_cubic_meter"),
        ("energy", "kWh", "rivulet_energy_joules"),
        ("weight", "kg", "rivulet_weight_grams"),
        ("rssi", "dBm", "rivulet_rssi_decibel_milliwatts"),
        ("rain.count", "count", "rivulet_rain_counts"),
        ("total", "", "rivulet_totals"),
        ("probe.b", "Cel", "rivulet_probeb_celsius"),
        ("b", "", "rivulet_channelb"),
        ("kilobytes", "", "rivulet_channelkilobytes"),
        ("collector.lag", "s", "rivulet_channel_collector_lag_seconds"),
        ("mesh", "", "rivulet_channel_mesh"),
        ("温度", "Cel", "rivulet_channel_celsius"),
        ("{} \"\\=,# 0", "", "rivulet_0"),
        ("speed", "furlong/fortnight", "rivulet_speed_furlong_fortnight"),
    ])
    func nameEndsInItsBaseUnit(_ channel: String, _ unit: String, _ name: String) throws {
        let unit = try #require(Unit(unit))
        #expect(MetricName(channel: channel, unit: unit).text == name)
    }

    @Test func valuesAreInTheBaseUnit() throws {
        func value(_ text: String, _ unit: String) throws -> String? {
            let unit = MetricUnit(try #require(Unit(unit)))
            return unit.convert(try DecimalValue(parsing: text)).map { "\($0.normalized)" }
        }
        #expect(try value("1013.25", "hPa") == "101325")
        #expect(try value("55.5", "%RH") == "0.555")
        #expect(try value("50", "[degF]") == "10")
        #expect(try value("8", "bit") == "1")
        #expect(try value("0.5", "kWh") == "1800000")
        #expect(try value("12", "ug/m3") == "0.000012")
        #expect(try value("21.5", "Cel") == "21.5")
    }

    @Test func everyRegisteredUnitHasAWord() throws {
        for (name, _) in Unit.registered where name != "count" {
            let unit = MetricUnit(try #require(Unit(name)))
            #expect(unit.suffix.utf8.count >= 2, "\(name) gives \(unit.suffix)")
        }
    }

    @Test func anyBytesGiveALegalName() {
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let name = MetricName(
                channel: String(decoding: bytes, as: UTF8.self), unit: .celsius
            ).text
            #expect(name.hasPrefix("rivulet_") && name.hasSuffix("_celsius"))
            #expect(name.utf8.allSatisfy { $0 == 0x5f || $0 >= 0x30 && $0 < 0x7b })
        }
    }

    @Test func labelsAreSortedUniqueAndEscaped() {
        let peer = PeerID(high: 1, low: 2)
        let labels = MetricLabels(
            node: "a\"\\\n<b>", peer: peer, channel: "x",
            labels: [
                Label(key: "Room", value: ""), Label(key: "Site", value: "1"),
                Label(key: "site", value: "2"), Label(key: "ünder", value: "3"),
            ])
        #expect(
            labels.list
                == #"channel="x",label__nder="3",label_site="1",node="a\"\\\n<b>",peer=""#
                + "\(peer)\"")
    }
}
