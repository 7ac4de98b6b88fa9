import CollectorConfiguration
import NearbyCore
import Outputs

/// A connection with what is known of the database.
final class PostgresSession {
    private let connection: PostgresConnection
    private let schema: PostgresSchema
    private let delivery: PostgresDelivery
    private let place: String
    private let collector: Int
    /// What our series are called there; emptied when it is full.
    private var numbers: [OutputSeries: SeriesNumbers] = [:]
    /// Suffixes of the months that have tables; nil where the extension makes them.
    private var months: Set<String>?
    /// `idle` looks for the next month after so many calls.
    private var callsToMonths = 0

    private static let numbersMax = 100_000
    private static let callsBetweenMonths = 600

    init(_ settings: PostgresSettings, collector: PeerID) throws(OutputFault) {
        let parameters = try PostgresParameters(settings)
        place = parameters.place
        schema = PostgresSchema(settings.schema)
        delivery = PostgresDelivery(schema)
        connection = try PostgresConnection(
            parameters.list, timeLimit: settings.timeLimit, place: place)
        let encoding = connection.parameter("server_encoding")
        guard encoding == "UTF8" else { throw PostgresFault.encoding(encoding, place: place) }
        try PostgresMigration(connection, schema, place: place).run()
        for table in PostgresDelivery.staging { try connection.execute(table) }
        self.collector = try Self.number(of: collector, connection, delivery, place)
        months = try Self.months(connection, schema)
        try makeMonths([])
    }

    private static func number(
        of collector: PeerID, _ connection: PostgresConnection, _ delivery: PostgresDelivery,
        _ place: String
    ) throws(OutputFault) -> Int {
        for _ in 0..<2 {
            let rows = try connection.execute(delivery.collector, [collector.description])
            if let number = rows.first?.first.flatMap({ $0 }).flatMap(Int.init) { return number }
            try connection.execute(delivery.collectorInsertion, [collector.description])
        }
        throw OutputFault(.unsuitable, "\(place): the table collectors takes no row")
    }

    private static func months(
        _ connection: PostgresConnection, _ schema: PostgresSchema
    ) throws(OutputFault) -> Set<String>? {
        let kind = try connection.execute(schema.kindOfReadings).first?.first
        guard kind == "p" else { return nil }
        return Set(try connection.execute(schema.partitions).compactMap { $0.first ?? nil })
    }

    // MARK: Months

    func idle() throws(OutputFault) {
        callsToMonths -= 1
        guard callsToMonths <= 0 else { return }
        callsToMonths = Self.callsBetweenMonths
        try makeMonths([])
    }

    /// Those that have no table yet, for readings of these times and for what comes next.
    private func makeMonths(_ times: [Int64]) throws(OutputFault) {
        guard let known = months else { return }
        let now = try connection.execute("SELECT floor(extract(epoch FROM now()))::bigint")
        let seconds = now.first?.first.flatMap { $0 }.flatMap(Int64.init) ?? 0
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return }
        for month in PostgresMonths.needed(times, now: nanoseconds)
        where !known.contains(month.suffix) {
            try make(month)
            months?.insert(month.suffix)
        }
    }

    /// Another collector may be doing the same.
    private func make(_ month: PostgresMonth) throws(OutputFault) {
        let schema = schema
        try connection.transaction { connection throws(OutputFault) in
            try connection.execute(schema.lock)
            let isThere = try connection.execute(schema.presence(of: month))
            guard isThere.first?.first != "t" else { return }
            for statement in schema.creation(of: month) { try connection.execute(statement) }
        }
    }

    // MARK: Delivery

    func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        let plan = PostgresPlan(batch)
        guard !plan.readings.isEmpty else { return plan.receipt }
        try resolve(plan.series, isCurrent: !batch.isHistorical)
        var rows = PostgresRows()
        for (reading, sequence) in plan.readings {
            guard let numbers = numbers[batch.series[reading.series]] else { continue }
            rows.add(reading, run: numbers.run, channel: numbers.channel, sequence: sequence)
        }
        if let known = months {
            let unknown = plan.times.filter {
                !known.contains(PostgresMonth(containing: $0).suffix)
            }
            if !unknown.isEmpty { try makeMonths(unknown) }
        }
        try insert(rows)
        return plan.receipt
    }

    /// Has the numbers of these series in the database.
    private func resolve(_ series: [OutputSeries], isCurrent: Bool) throws(OutputFault) {
        if numbers.count > Self.numbersMax { numbers.removeAll() }
        let unknown = series.filter { series in
            numbers[series].map { isCurrent && !$0.isNamed } ?? true
        }
        guard !unknown.isEmpty else { return }
        var rows = PostgresRows()
        for (number, series) in unknown.enumerated() { rows.add(series, number: number) }
        let delivery = delivery
        let answer = try connection.transaction { connection throws(OutputFault) in
            try connection.copy(PostgresDelivery.seriesCopy, rows.bytes)
            for statement in delivery.seriesInsertions(isCurrent: isCurrent) {
                try connection.execute(statement)
            }
            return try connection.execute(delivery.seriesNumbers)
        }
        for row in answer {
            let values = row.compactMap { $0.flatMap(Int.init) }
            guard values.count == 3, unknown.indices.contains(values[0]) else { continue }
            numbers[unknown[values[0]]] = SeriesNumbers(
                run: values[1], channel: values[2], isNamed: isCurrent)
        }
        if let missing = unknown.first(where: { numbers[$0] == nil }) {
            throw OutputFault(
                .unsuitable, "\(place): the tables have no row for peer \(missing.node.peer)")
        }
    }

    private func insert(_ rows: PostgresRows) throws(OutputFault) {
        let (delivery, collector) = (delivery, collector)
        try connection.transaction { connection throws(OutputFault) in
            try connection.copy(PostgresDelivery.readingsCopy, rows.bytes)
            try connection.execute(delivery.runsLock)
            let times =
                try connection.execute(delivery.searchedTimes).first?.compactMap { $0 } ?? []
            if times.count == 2 {
                let search = delivery.search(from: times[0], to: times[1], collector: collector)
                for statement in search { try connection.execute(statement) }
            }
            for statement in delivery.insertions(collector: collector) {
                try connection.execute(statement)
            }
        }
    }
}

private struct SeriesNumbers {
    let run: Int
    let channel: Int
    /// Whether the peer was given the names of now, not only those of then.
    let isNamed: Bool
}

/// Makes the schema, or makes it newer; one collector at a time.
private struct PostgresMigration {
    let connection: PostgresConnection
    let schema: PostgresSchema
    let place: String

    init(_ connection: PostgresConnection, _ schema: PostgresSchema, place: String) {
        self.connection = connection
        self.schema = schema
        self.place = place
    }

    func run() throws(OutputFault) {
        guard try version().number < PostgresSchema.version else { return }
        try connection.transaction { connection throws(OutputFault) in
            try connection.execute(schema.lock)
            let (isThere, version) = try self.version()
            if !isThere { try connection.execute(schema.creation) }
            let rows = try connection.execute(PostgresSchema.timescale)
            for next in stride(from: version + 1, through: PostgresSchema.version, by: 1) {
                let steps = schema.migration(to: next, timescale: rows.first?.first ?? nil)
                for step in steps { try connection.execute(step) }
            }
        }
    }

    private func version() throws(OutputFault) -> (isThere: Bool, number: Int) {
        let presence = try connection.execute(schema.presence).first
        guard presence?.last == "t" else { return (presence?.first == "t", 0) }
        let rows = try connection.execute(schema.currentVersion)
        let number = rows.first?.first.flatMap { $0 }.flatMap(Int.init) ?? 0
        guard number <= PostgresSchema.version else {
            throw PostgresFault.newer(number, place: place)
        }
        return (true, number)
    }
}
