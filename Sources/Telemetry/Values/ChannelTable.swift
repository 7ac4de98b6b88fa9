import NearbyCore

/// The channels of one run. Numbers count up from 1 and are never used again.
struct ChannelTable: Sendable {
    /// In order of their numbers: the channel of number n is at n − 1.
    private(set) var channels: [Channel] = []
    private var numbers: [String: UInt16] = [:]
    /// Numbers of channels that have given nothing but nulls: their scale is a guess still.
    private var unscaled: Set<UInt16> = []

    /// `changed`: the birth told so far is not true of it.
    enum Lookup { case known(Channel), changed(Channel), full }

    /// The live channel of this name and unit; a new one if there is none. A channel whose unit
    /// changed is retired and gets a successor.
    ///
    /// The scale is that of the first description that has one. Until then it may change without
    /// harm: a null needs none, so no reading has been written in it.
    mutating func channel(for description: ChannelDescription, hasScale: Bool) -> Lookup {
        if let number = numbers[description.name] {
            let index = Int(number) - 1
            if channels[index].unit == description.unit {
                let isFirst = hasScale && unscaled.remove(number) != nil
                guard isFirst, channels[index].scale != description.scale else {
                    return .known(channels[index])
                }
                channels[index] = Channel(number: number, description: description)
                return .changed(channels[index])
            }
            guard channels.count < Limits.channelsPerRunMax else { return .full }
            channels[index].isRetired = true
        }
        guard channels.count < Limits.channelsPerRunMax else { return .full }
        let channel = Channel(number: UInt16(channels.count + 1), description: description)
        channels.append(channel)
        numbers[description.name] = channel.number
        if !hasScale { unscaled.insert(channel.number) }
        return .changed(channel)
    }

    /// Retires every live channel whose name is not among these. Returns whether any was.
    mutating func retire(allBut names: Set<String>) -> Bool {
        var hasRetired = false
        for index in channels.indices where !channels[index].isRetired {
            guard !names.contains(channels[index].name) else { continue }
            channels[index].isRetired = true
            numbers[channels[index].name] = nil
            hasRetired = true
        }
        return hasRetired
    }
}
