import Testing

@testable import NearbyCore

/// Durations that fit half of the 128 bits are converted another way than the others.
@Suite struct DurationTests {
    /// 2⁶⁴ attoseconds are 18,446,744,073.7 ns.
    static let edges: [Int64] = [
        .min, .min + 1, -18_446_744_074, -18_446_744_073, -1_000_000_000, -1, 0, 1, 999_999_999,
        1_000_000_000, 18_000_000_000, 18_446_744_073, 18_446_744_074, 36_893_488_147,
        36_893_488_148, .max - 1, .max,
    ]

    @Test(arguments: edges)
    func nanosecondsComeBackAsTheyWere(nanoseconds: Int64) {
        #expect(Duration.nanoseconds(nanoseconds).nanoseconds == nanoseconds)
    }

    @Test(arguments: edges)
    func aDifferenceIsTheDurationBetween(nanoseconds: Int64) {
        let after = Instant(nanoseconds: nanoseconds)
        #expect(after - .zero == .nanoseconds(nanoseconds))
        #expect(Instant.zero + (after - .zero) == after)
    }

    @Test(arguments: edges)
    func whatIsNoWholeNanosecondIsCutTowardsZero(nanoseconds: Int64) {
        let rest = Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)
        guard nanoseconds > .min, nanoseconds < .max else { return }
        let whole = Duration.nanoseconds(nanoseconds)
        #expect((nanoseconds < 0 ? whole - rest : whole + rest).nanoseconds == nanoseconds)
    }

    @Test func whatIsLessThanANanosecondIsNone() {
        let rest = Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)
        #expect(rest.nanoseconds == 0)
        #expect((.zero - rest).nanoseconds == 0)
    }
}
