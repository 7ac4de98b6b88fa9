/// What the drivers of kernel files have in common.
extension Key {
    /// Longest time that a device may repeat itself.
    static let staleAfter = Key(
        "stale-after", .duration(.zero ... .seconds(90 * 86_400)), .value("0"),
        "How long all values of a device may stay the same until they count as frozen. 0: 1d for "
            + "parts whose values always move, such as dht11 and bme280; otherwise for ever.")

    /// A device's name, address or number.
    static func device(_ meaning: String) -> Key {
        Key("device", .text(1...40), .described("all"), meaning)
    }
}
