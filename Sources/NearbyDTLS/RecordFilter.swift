import NearbyCore

/// Walks the DTLS records of a datagram and lets through only what cannot harm OpenSSL.
///
/// OpenSSL ends an association at forged plain-text alerts, at application data before the keys,
/// and (3.5) at a protected record too short for its tag: one datagram from anybody. What passes
/// here is at worst a forged handshake message, which costs one attempt.
///
///     0        1          3        5                    11        13
///     +--------+----------+--------+--------------------+---------+------------
///     | type 1 | version 2| epoch 2| sequence number 6  | length 2| body …
///     +--------+----------+--------+--------------------+---------+------------
struct RecordFilter {
    enum Phase { case handshake, established }

    private enum ContentType: UInt8 {
        case changeCipherSpec = 20
        case alert = 21
        case handshake = 22
        case applicationData = 23
    }

    /// Drops since they were last taken.
    private(set) var drops = DropCounters()
    /// Of the plain-text alerts that were dropped, the last fatal one (RFC 5246 §7.2).
    private(set) var lastAlert: UInt8?

    /// The datagram without the records that were dropped; empty if none is left.
    mutating func pass(_ datagram: ArraySlice<UInt8>, in phase: Phase) -> ArraySlice<UInt8> {
        var reader = ByteReader(datagram)
        var passed: [UInt8] = []
        var everythingPassed = true
        while reader.remainingCount > 0 {
            let start = datagram.startIndex + reader.consumedCount
            guard let record = try? Record(parsing: &reader) else {
                drops.count(.handshakeMalformed)
                everythingPassed = false
                break
            }
            if Self.allows(record, in: phase) {
                passed += datagram[start..<datagram.startIndex + reader.consumedCount]
            } else {
                drops.count(.handshakeRecordFiltered)
                everythingPassed = false
                if record.epoch == 0, record.type == ContentType.alert.rawValue,
                    record.body.elementsEqual([2, record.body.last ?? 0])
                {
                    lastAlert = record.body.last
                }
            }
        }
        return everythingPassed ? datagram : passed[...]
    }

    mutating func takeDrops() -> DropCounters {
        defer { drops = DropCounters() }
        return drops
    }

    private struct Record {
        let type: UInt8
        let version: UInt16
        let epoch: UInt16
        let body: ArraySlice<UInt8>

        init(parsing reader: inout ByteReader) throws(WireError) {
            type = try reader.readUInt8()
            version = try reader.readUInt16()
            epoch = try reader.readUInt16()
            _ = try reader.readInteger(byteCount: 6)
            body = try reader.readBytes(Int(try reader.readUInt16()))
        }
    }

    private static func allows(_ record: Record, in phase: Phase) -> Bool {
        guard let type = ContentType(rawValue: record.type) else { return false }
        switch record.epoch {
        case 0:
            // The first flights carry version 1.0 in the record header (RFC 6347 §4.1, §4.2.1).
            guard phase == .handshake, record.version == 0xfefd || record.version == 0xfeff else {
                return false
            }
            switch type {
            case .handshake: return record.body.count >= 12
            case .changeCipherSpec: return record.body.elementsEqual([1])
            case .alert, .applicationData: return false
            }
        case 1:
            // AES-GCM adds 8 bytes of nonce and 16 of tag; ChaCha20 only the tag, but nothing so
            // short is ours.
            return record.version == 0xfefd && type != .changeCipherSpec && record.body.count >= 24
        default:
            return false
        }
    }
}
