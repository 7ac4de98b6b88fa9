import CollectorConfiguration
import Outputs

/// One broker, connected again and again: which version it speaks, and what it has acknowledged.
final class BrokerSession {
    let settings: MQTTSettings
    private let clientID: String
    private let patience: Duration
    private(set) var connection: BrokerConnection?
    /// Whether the broker is known to speak 3.1.1 only.
    private var isOld: Bool

    init(_ settings: MQTTSettings, clientID: String, patience: Duration) {
        self.settings = settings
        self.clientID = settings.clientID ?? clientID
        self.patience = patience
        isOld = settings.version == .v311
    }

    /// A new connection; the former one is given up without a goodbye.
    func open(will: MQTTMessage) throws(OutputFault) -> BrokerConnection {
        connection = nil
        if !isOld {
            let newest = try make(will, protocolVersion: 5)
            do throws(OutputFault) {
                try newest.open()
                connection = newest
                return newest
            } catch {
                guard newest.mayBeOfOldBroker else { throw error }
            }
        }
        let old = try make(will, protocolVersion: 4)
        try old.open()
        isOld = true
        connection = old
        return old
    }

    private func make(
        _ will: MQTTMessage, protocolVersion: Int32
    ) throws(OutputFault) -> BrokerConnection {
        try BrokerConnection(
            BrokerAddress(
                settings: settings, clientID: clientID, will: will,
                protocolVersion: protocolVersion),
            patience: patience)
    }

    /// Publishes in order, with a bounded number in flight, and returns when the broker has
    /// acknowledged them all. What it will never take is added to the receipt.
    func publish(
        _ messages: [MQTTMessage], _ receipt: inout OutputReceipt
    ) throws(OutputFault) {
        guard let connection else { return }
        var pending: [Int32: Int] = [:]
        var transient: OutputFault?
        func settle() {
            for (number, code) in connection.events.takeAcknowledgements() {
                guard let index = pending.removeValue(forKey: number), code >= 0x80 else {
                    continue
                }
                if Self.isForGood(code) {
                    refuse(messages[index], BrokerConnection.reason(code), &receipt)
                } else {
                    transient = fault(messages[index], code)
                }
            }
        }
        for (index, message) in messages.enumerated() {
            if pending.count >= BrokerConnection.inFlightMax {
                try connection.wait {
                    settle()
                    return pending.count < BrokerConnection.inFlightMax || transient != nil
                }
            }
            if let transient { throw transient }
            switch try connection.publish(message) {
            case .sent(let number): if message.isAcknowledged { pending[number] = index }
            case .impossible(let why): refuse(message, why, &receipt)
            }
        }
        try connection.wait {
            settle()
            return pending.isEmpty || transient != nil
        }
        if let transient { throw transient }
    }

    /// Not authorised, no valid topic, too large, not the payload it wants: the same the next time.
    private static func isForGood(_ code: Int32) -> Bool {
        [0x87, 0x90, 0x95, 0x99].contains(code)
    }

    private func refuse(_ message: MQTTMessage, _ why: String, _ receipt: inout OutputReceipt) {
        receipt.refusedCount += message.readingCount
        guard receipt.refusal == nil else { return }
        receipt.refusal =
            "\(settings.target) takes nothing on \(PrintableReason.text(message.topic)): \(why)"
            + "; allow the user to write there"
    }

    private func fault(_ message: MQTTMessage, _ code: Int32) -> OutputFault {
        OutputFault(
            .unavailable,
            "\(settings.target): \(PrintableReason.text(message.topic)) was not taken "
                + "(\(BrokerConnection.reason(code))); it is tried again")
    }

    /// Without a connection after a fault, so that the next attempt begins anew.
    func attempt<Result>(
        _ body: () throws(OutputFault) -> Result
    ) throws(OutputFault) -> Result {
        do throws(OutputFault) {
            return try body()
        } catch {
            connection = nil
            throw error
        }
    }

    /// Says the last words and goodbye.
    func close(_ messages: [MQTTMessage]) {
        guard let connection else { return }
        var receipt = OutputReceipt()
        try? publish(messages, &receipt)
        connection.disconnect()
        self.connection = nil
    }
}
