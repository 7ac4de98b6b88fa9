/// A fast keyed mixing function in place of SHA-256: spreads well, resists nothing.
struct SimulatedHash {
    private var lanes: (UInt64, UInt64) = (0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b)

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            lanes.0 = (lanes.0 ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            lanes.1 = (lanes.1 &+ lanes.0) ^ (lanes.1 << 7 | lanes.1 >> 57)
        }
        add(0x9e37_79b9_7f4a_7c15)
    }

    mutating func add(_ value: UInt64) {
        lanes.0 = (lanes.0 ^ value) &* 0xff51_afd7_ed55_8ccd
        lanes.1 = (lanes.1 ^ lanes.0 >> 29) &* 0xc4ce_b9fe_1a85_ec53
    }

    func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count + 7)
        var state = lanes.0 ^ (lanes.1 << 32 | lanes.1 >> 32)
        while result.count < count {
            state &+= 0x9e37_79b9_7f4a_7c15 ^ lanes.1
            var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            mixed ^= mixed >> 31
            for shift in stride(from: 56, through: 0, by: -8) {
                result.append(UInt8(truncatingIfNeeded: mixed >> UInt64(shift)))
            }
        }
        return Array(result.prefix(count))
    }
}
