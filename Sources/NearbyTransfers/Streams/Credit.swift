import NearbyCore

/// What a reader lets all streams, or all resources, of the peer send together.
///
/// `released` ≤ `received` ≤ `released` + `window`, always: whoever adds to `received` has asked
/// `admitted` or `admits`.
struct TotalCredit: Sendable {
    private let window: UInt64
    /// Bytes announced by the peer, of all.
    private var received: UInt64 = 0
    /// Of these, what is done with.
    private var released: UInt64 = 0
    /// What the peer was told.
    private var announced: UInt64

    init(window: Int) {
        self.window = UInt64(window)
        announced = self.window
    }

    /// Bytes that the peer has sent and that are not done with.
    var heldCount: Int { Int(received - released) }

    func admits(_ count: UInt64) -> Bool { received + count <= released + window }

    /// How many of so many more bytes the peer may have sent.
    func admitted(of count: UInt64) -> UInt64 { min(count, released + window - received) }

    mutating func receive(_ count: UInt64) { received += count }

    mutating func release(_ count: UInt64) { released = min(received, released + count) }

    /// Whether the peer has nearly used up the credit that it was given.
    var isShort: Bool { announced < received + window / 8 }

    /// The limit that the peer is to be told now, if it is worth a frame.
    mutating func takeAnnouncement() -> UInt64? {
        guard released + window >= announced + window / 4 else { return nil }
        announced = released + window
        return announced
    }
}

/// Which streams, or resources, of the peer are there, were there, or may come: so many at once.
struct NumberCredit: Sendable {
    enum Standing: Sendable { case open, new, closed, beyond }

    private let most: UInt64
    private var open: Set<UInt64> = []
    /// Touching ones merge; a gap is one that is open or has not come: there are at most as many.
    private var closed = NumberRanges()
    private var closedCount: UInt64 = 0
    private var announced: UInt64

    init(most: Int) {
        self.most = UInt64(most)
        announced = self.most
    }

    func standing(of number: UInt64) -> Standing {
        if open.contains(number) { return .open }
        if number >= closedCount + most { return .beyond }
        return closed.contains(number) ? .closed : .new
    }

    mutating func began(_ number: UInt64) { open.insert(number) }

    mutating func ended(_ number: UInt64) {
        guard open.remove(number) != nil else { return }
        closed.insert(number..<number + 1)
        closedCount += 1
    }

    mutating func takeAnnouncement() -> UInt64? {
        guard closedCount + most >= announced + most / 4 else { return nil }
        announced = closedCount + most
        return announced
    }
}

/// The numbers on the wire of our own streams, or resources: each gets the next one when the peer
/// allows it.
struct NumberSupply: Sendable {
    private var limit: UInt64
    private var next: UInt64 = 0
    private var waiting = Deque<UInt64>()
    private var owners: [UInt64: UInt64] = [:]

    init(limit: Int) { self.limit = UInt64(limit) }

    /// Ours, by its number on the wire.
    func owner(of number: UInt64) -> UInt64? { owners[number] }

    /// One of ours waits for a number. The caller bounds how many.
    mutating func wait(_ own: UInt64) { waiting.append(own) }

    mutating func raise(limit new: UInt64) { limit = max(limit, new) }

    /// The next of ours that may begin, with its number; those that are over are passed over.
    mutating func takeNext(
        where isThere: (UInt64) -> Bool
    ) -> (own: UInt64, number: UInt64)? {
        while next < limit, let own = waiting.popFirst() {
            guard isThere(own) else { continue }
            defer { next += 1 }
            owners[next] = own
            return (own, next)
        }
        return nil
    }

    mutating func release(_ number: UInt64) { owners[number] = nil }

    /// Those that wait for a number are over.
    mutating func forgetWaiting() { waiting.removeAll() }

    var waitingCount: Int { waiting.count }
}
