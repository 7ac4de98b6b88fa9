import NearbyCore

/// The control byte's fields (drawn at `Report`).
enum ReportControl {
    static let hasExtension: UInt8 = 0x80
    static let hasGap: UInt8 = 0x40
    static let timeMask: UInt8 = 0x30
    static let timeSame: UInt8 = 0x00
    static let timeStepAgain: UInt8 = 0x10
    static let timeStep: UInt8 = 0x20
    static let channelMask: UInt8 = 0x0c
    static let channelNext: UInt8 = 0x00
    static let channelSame: UInt8 = 0x04
    static let channelNumber: UInt8 = 0x08
    static let channelFirst: UInt8 = 0x0c
    static let valueMask: UInt8 = 0x03
    static let valueDifference: UInt8 = 0x00
    static let valueDecimal: UInt8 = 0x01
    static let valueNull: UInt8 = 0x02
    static let valueAgain: UInt8 = 0x03
}

/// What both sides remember from one reading of a report to the next, beside channels' integers.
struct ReportState {
    var sequence: UInt64
    var milliseconds: Int64
    var step: Int64 = 0
    var channel: UInt16 = 0
    var firstChannel: UInt16?

    /// `sequence` is that of the reading before the first.
    init(sequence: UInt64, milliseconds: Int64) {
        self.sequence = sequence
        self.milliseconds = milliseconds
    }
}

/// Builds a report reading by reading, so that it is known when the next does not fit.
package struct ReportEncoder: Sendable {
    private var body = ByteWriter(reserving: 400)
    private var state: ReportState?
    private var integers = ChannelIntegers()
    private var first: (sequence: UInt64, milliseconds: Int64) = (0, 0)
    package private(set) var count = 0

    package init() {}

    package var firstSequence: UInt64 { first.sequence }
    var lastSequence: UInt64 { state?.sequence ?? first.sequence }

    /// Adds the entry unless the report, whatever its final header, could then exceed `bytesMax`;
    /// the first entry is always taken. Returns whether it was. Sequences must ascend.
    package mutating func append(_ entry: Report.Entry, bytesMax: Int) -> Bool {
        var next =
            state ?? ReportState(sequence: entry.sequence &- 1, milliseconds: entry.milliseconds)
        precondition(
            count == 0 || entry.sequence > next.sequence, "sequence \(entry.sequence) not ascending"
        )
        if count == 0 { first = (entry.sequence, entry.milliseconds) }
        let start = body.count
        Self.encode(entry, after: integers, state: &next, into: &body)
        let total = headerBytesMax(count: count + 1) + body.count
        guard count == 0 || total <= bytesMax else {
            body.truncate(to: start)
            return false
        }
        if case .scaled(let integer) = entry.cell { integers.set(integer, of: entry.channel) }
        state = next
        count += 1
        return true
    }

    /// The whole message, tag first. `lowestHeld` is at most the first sequence.
    package func bytes(birth: BirthReference, lowestHeld: UInt64) -> [UInt8] {
        precondition(count > 0 && lowestHeld <= first.sequence, "lowest held \(lowestHeld)")
        var writer = ByteWriter(reserving: headerBytesMax(count: count) + body.count)
        writer.write(TelemetryTag.report.rawValue)
        birth.emit(into: &writer)
        writer.writeVarint(first.sequence)
        writer.writeVarint(first.sequence - lowestHeld)
        writer.writeVarint(UInt64(first.milliseconds))
        writer.writeVarint(UInt64(count))
        writer.write(contentsOf: body.bytes)
        return writer.bytes
    }

    private func headerBytesMax(count: Int) -> Int {
        1 + BirthReference.byteCountMax + 2 * ByteWriter.varintByteCount(first.sequence)
            + ByteWriter.varintByteCount(UInt64(first.milliseconds))
            + ByteWriter.varintByteCount(UInt64(count))
    }

    private static func encode(
        _ entry: Report.Entry, after integers: ChannelIntegers, state: inout ReportState,
        into writer: inout ByteWriter
    ) {
        typealias Control = ReportControl
        let gap = entry.sequence &- state.sequence &- 1
        let step = entry.milliseconds &- state.milliseconds
        let time =
            step == 0
            ? Control.timeSame : step == state.step ? Control.timeStepAgain : Control.timeStep
        let channel =
            entry.channel == state.channel &+ 1
            ? Control.channelNext
            : entry.channel == state.channel
                ? Control.channelSame
                : entry.channel == state.firstChannel ? Control.channelFirst : Control.channelNumber
        let value: UInt8
        switch entry.cell {
        case .scaled(let integer):
            value =
                integers[entry.channel] == integer
                ? Control.valueAgain : Control.valueDifference
        case .decimal: value = Control.valueDecimal
        case .null: value = Control.valueNull
        }
        writer.write((gap > 0 ? Control.hasGap : 0) | time | channel | value)
        if gap > 0 { writer.writeVarint(gap) }
        if time == Control.timeStep {
            writer.writeSignedVarint(step)
            state.step = step
        }
        if channel == Control.channelNumber { writer.writeVarint(UInt64(entry.channel)) }
        switch entry.cell {
        case .scaled(let integer):
            if value == Control.valueDifference {
                writer.writeSignedVarint(integer &- (integers[entry.channel] ?? 0))
            }
        case .decimal(let decimal):
            writer.write(UInt8(bitPattern: decimal.exponent))
            writer.writeSignedVarint(decimal.coefficient)
        case .null(let reason): writer.write(reason.rawValue)
        }
        state.sequence = entry.sequence
        state.milliseconds = entry.milliseconds
        state.channel = entry.channel
        state.firstChannel = state.firstChannel ?? entry.channel
    }
}

/// Reads what `ReportEncoder` wrote.
struct ReportDecoder {
    private var state: ReportState
    private var integers = ChannelIntegers()

    init(firstSequence: UInt64, baseMilliseconds: Int64) {
        state = ReportState(sequence: firstSequence &- 1, milliseconds: baseMilliseconds)
    }

    mutating func decode(
        from reader: inout ByteReader, skippedFields: inout Int
    ) throws(WireError) -> Report.Entry {
        typealias Control = ReportControl
        let control = try reader.readUInt8()
        if control & Control.hasGap != 0 { try skipSequences(try reader.readVarint()) }
        guard state.firstChannel == nil || state.sequence < .max else {
            throw .invalid(field: "sequence")
        }
        state.sequence &+= 1
        try advanceTime(control & Control.timeMask, from: &reader)
        try chooseChannel(control & Control.channelMask, from: &reader)
        let cell = try decodeCell(control & Control.valueMask, from: &reader)
        if control & Control.hasExtension != 0 {
            _ = try reader.readCountedBytes(limit: reader.remainingCount)
            skippedFields += 1
        }
        if state.firstChannel == nil { state.firstChannel = state.channel }
        return Report.Entry(
            sequence: state.sequence, channel: state.channel, milliseconds: state.milliseconds,
            cell: cell)
    }

    /// Sequences ascend and never wrap; the first reading has no gap before it.
    private mutating func skipSequences(_ gap: UInt64) throws(WireError) {
        let (sum, overflow) = state.sequence.addingReportingOverflow(gap)
        guard gap > 0, !overflow, sum < .max, state.firstChannel != nil else {
            throw .invalid(field: "gap")
        }
        state.sequence = sum
    }

    private mutating func advanceTime(_ mode: UInt8, from reader: inout ByteReader)
        throws(WireError)
    {
        switch mode {
        case ReportControl.timeSame: return
        case ReportControl.timeStepAgain: break
        case ReportControl.timeStep: state.step = try reader.readSignedVarint()
        default: throw .invalid(field: "time")
        }
        let (sum, overflow) = state.milliseconds.addingReportingOverflow(state.step)
        guard !overflow, sum >= 0, sum <= Report.Entry.millisecondsMax else {
            throw .invalid(field: "time")
        }
        state.milliseconds = sum
    }

    private mutating func chooseChannel(_ mode: UInt8, from reader: inout ByteReader)
        throws(WireError)
    {
        switch mode {
        case ReportControl.channelNext: state.channel &+= 1
        case ReportControl.channelSame: break
        case ReportControl.channelFirst: state.channel = state.firstChannel ?? 0
        default:
            guard let number = UInt16(exactly: try reader.readVarint()) else {
                throw .invalid(field: "channel number")
            }
            state.channel = number
        }
    }

    private mutating func decodeCell(
        _ mode: UInt8, from reader: inout ByteReader
    ) throws(WireError) -> Report.Cell {
        switch mode {
        case ReportControl.valueDecimal:
            let exponent = Int8(bitPattern: try reader.readUInt8())
            return .decimal(
                DecimalValue(coefficient: try reader.readSignedVarint(), exponent: exponent))
        case ReportControl.valueNull: return .null(NullReason(rawValue: try reader.readUInt8()))
        default:
            var integer = integers[state.channel] ?? 0
            if mode == ReportControl.valueDifference { integer &+= try reader.readSignedVarint() }
            integers.set(integer, of: state.channel)
            return .scaled(integer)
        }
    }
}
