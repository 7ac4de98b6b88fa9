import Collector
import NearbyCore
import Testing

@testable import Store

/// Numbers in a damaged store are any numbers: an output goes on, and ends.
@Suite struct OutputDamageTests {
    private static let sets = [
        """
        UPDATE changes SET total =
        CASE id % 2 WHEN 0 THEN 9223372036854775807 ELSE -9223372036854775808 END
        """,
        "UPDATE changes SET count = 9223372036854775807, ranges = x'00'",
        "UPDATE changes SET count = -9223372036854775808, total = 9223372036854775807",
        "UPDATE changes SET run_id = 99, count = 9223372036854775807",
        "UPDATE changes SET run_id = -9223372036854775808",
        "UPDATE changes SET kind = 1, time = -9223372036854775808",
        """
        UPDATE changes SET kind = 2, former_first = -9223372036854775808,
        former_last = 9223372036854775807
        """,
        "UPDATE cursors SET count = 9223372036854775807, sequence = 1",
        "UPDATE cursors SET count = -9223372036854775808, milliseconds = -9223372036854775808",
        "UPDATE cursors SET total = -9223372036854775808, lost = 9223372036854775807",
        "UPDATE cursors SET change = 9223372036854775807",
        "UPDATE cursors SET change = -9223372036854775808",
        "UPDATE cursors SET total = 9223372036854775807, delivered = 9223372036854775807",
        "UPDATE cursors SET history_run = 1, history_sequence = 9223372036854775807",
        "UPDATE cursors SET history_run = -9223372036854775808",
        "UPDATE output_history SET count = 9223372036854775807",
        "UPDATE output_history SET run_id = 9223372036854775807 WHERE run_id = 99",
        "UPDATE cursors SET change = 9223372036854775807, sequence = 500, count = 300",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'changes'",
        "UPDATE changes SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM changes)",
    ]

    @Test(arguments: sets) func anOutputPassesOverAbsurdNumbers(_ damage: String) throws {
        try withStorePath { path in
            let output = OutputRegistration(
                name: "database", wantsHistory: true, hold: .seconds(3_600))
            let store = try Store.open(path).store
            try store.commit(batch(first: 1))
            _ = try store.register([output])
            for first in stride(from: UInt64(21), to: 121, by: 20) {
                try store.commit(batch(first: first))
            }
            try store.database.execute(
                "INSERT INTO output_history SELECT output, 99, ranges, count FROM output_history")
            try store.database.execute(damage)
            let progress = try #require(try store.register([output]).progress.first)
            let follower = try Follower(path, progress)
            try follower.follow(utc: .max)
            try store.save([follower.progress])
            // What is written afterwards is written, and delivered.
            try store.commit(batch(first: 201))
            try follower.follow(utc: .min)
            #expect((201...220).allSatisfy { follower.times[$0] != nil })
        }
    }

    private func batch(first: UInt64) throws -> StoreBatch {
        var batch = StoreBatch()
        batch.births = [try Fixture.birth()]
        batch.clocks = [Fixture.mapping()]
        batch.parts = [Fixture.part(Fixture.readings(first: first, count: 20))]
        return batch
    }
}
