import Fleet
import Outputs

/// Readings in topics of our own, with Home Assistant told about them.
final class TopicOutput: OutputSink {
    private let session: BrokerSession
    private var publisher: TopicPublisher
    private let birthTopic: String?
    /// What came of messages that are no readings; told with the next readings.
    private var aside = OutputReceipt()
    /// Filters of which it has been said that we may not read them.
    private var unread: Set<String> = []
    /// What the broker said aside last, so that it is said once.
    private var lastRefusal: String?

    /// Messages about nodes of one pass: readings do not wait behind more.
    private static let messagesOfPass = 2_000

    init(_ session: BrokerSession, _ options: TopicPublisher.Options) {
        self.session = session
        publisher = TopicPublisher(options)
        birthTopic = options.homeAssistant.map { $0 + "/status" }
    }

    func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        try session.attempt { () throws(OutputFault) in
            try connect()
            // A batch that fails comes again: nothing of it may count as published.
            var next = publisher
            let outputs = next.messages(of: batch)
            var receipt = OutputReceipt()
            try perform(outputs, &receipt)
            publisher = next
            receipt.remarks = publisher.remarks + aside.remarks
            publisher.remarks = []
            aside.remarks = []
            receipt.leaveOut(publisher.leftOutCount)
            publisher.leftOutCount = 0
            return receipt
        }
    }

    func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        try session.attempt { () throws(OutputFault) in
            try connect()
            try session.connection?.turn()
            look(for: false)
            var next = publisher
            let outputs = next.messages(of: fleet, limit: Self.messagesOfPass)
            var receipt = OutputReceipt()
            try perform(outputs, &receipt)
            publisher = next
            if let refusal = receipt.refusal, refusal != lastRefusal {
                lastRefusal = refusal
                aside.remarks.append(refusal)
            }
        }
    }

    func close() { session.close([publisher.availability(false)]) }

    // MARK: Connection

    /// Connects, reads what the broker remembers, and says that we are there.
    private func connect() throws(OutputFault) {
        guard session.connection == nil else { return }
        let connection = try session.open(will: publisher.availability(false))
        connection.events.isWanted = publisher.isWanted
        publisher.connect()
        for filter in publisher.memoryFilters {
            try read(filter, connection)
            look(for: true)
        }
        if let birthTopic { try read(birthTopic, connection, isKept: true) }
        var receipt = OutputReceipt()
        try session.publish([publisher.availability(true)], &receipt)
        if let refusal = receipt.refusal { throw OutputFault(.refused, refusal) }
    }

    /// Subscribes, and unless that is kept takes what is retained there. Users who may only write
    /// are served all the same, without memory.
    private func read(
        _ filter: String, _ connection: BrokerConnection, isKept: Bool = false
    ) throws(OutputFault) {
        if try connection.subscribe(filter, qos: isKept ? 1 : 0) {
            if !isKept { try connection.fence(filter) }
        } else if unread.insert(filter).inserted {
            aside.remarks.append(
                "\(session.settings.target): may not read \(filter); allow the user to, or "
                    + "topics may change with a restart and old ones stay")
        }
    }

    /// Looks at what has come.
    private func look(for isMemory: Bool) {
        for message in session.connection?.events.takeReceived() ?? [] {
            if message.topic == birthTopic {
                if message.payload == Array("online".utf8) { publisher.announceAgain() }
            } else if isMemory, message.isRetained {
                publisher.remember(message.topic, message.payload)
            }
        }
    }

    // MARK: Publishing

    private func perform(
        _ outputs: [TopicPublisher.Output], _ receipt: inout OutputReceipt
    ) throws(OutputFault) {
        var messages: [MQTTMessage] = []
        for output in outputs {
            switch output {
            case .publish(let message): messages.append(message)
            case .purge(let filters):
                try session.publish(messages, &receipt)
                messages = try retained(filters).map { .clearing($0) }
            }
        }
        try session.publish(messages, &receipt)
    }

    /// The topics under which the broker keeps something.
    private func retained(_ filters: [String]) throws(OutputFault) -> [String] {
        guard let connection = session.connection else { return [] }
        look(for: false)
        for filter in filters {
            try read(filter, connection)
        }
        let messages = connection.events.takeReceived()
        return messages.filter { $0.isRetained && !$0.payload.isEmpty && $0.topic != birthTopic }
            .map(\.topic)
    }
}
