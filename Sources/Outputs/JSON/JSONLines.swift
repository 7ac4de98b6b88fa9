import Fleet

/// A batch as JSON lines: an object for each reading, with the members of `ReadingJSON`, and
/// `"correction":true` where the reading was there before, with another time.
public enum JSONLines {
    /// In the batch's order, each with a newline at its end.
    public static func lines(_ batch: OutputBatch) -> [[UInt8]] {
        batch.readings.compactMap { reading in
            guard batch.series.indices.contains(reading.series) else { return nil }
            var json = JSONText()
            json.object { json in
                ReadingJSON.members(&json, reading, of: batch.series[reading.series])
                if batch.isCorrection { json.add("correction", flag: true) }
            }
            return json.bytes + [UInt8(ascii: "\n")]
        }
    }
}
