import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

struct LinkChoiceTests {
    static let wifi = path(1, .wifi)
    static let otherWifi = path(2, .wifi)
    static let bluetooth = path(3, .bluetooth)
    static let ethernet = path(4, .ethernet)

    static func path(_ link: UInt32, _ linkClass: LinkClass) -> LinkPath {
        LinkPath(
            endpoint: Endpoint(link: LinkID(value: link), address: .simulated(UInt64(link))),
            linkClass: linkClass)
    }

    private func choice(_ path: LinkPath, decides: Bool = true) -> LinkChoice {
        LinkChoice(path: path, decides: decides, now: .zero)
    }

    @Test func aBetterLinkIsTakenOnceItIsProved() {
        var choice = choice(Self.bluetooth)
        let asked = choice.handle(.candidates([Self.bluetooth, Self.wifi]), now: .zero)
        #expect(asked == [.challenge(Self.wifi.endpoint)])
        #expect(choice.used == Self.bluetooth)
        #expect(choice.handle(.answered(Self.wifi), now: .zero) == [.use(Self.wifi)])
        #expect(choice.handle(.answered(Self.bluetooth), now: .zero) == [])
        #expect(choice.used == Self.wifi)
    }

    @Test func aWorseLinkStandsByAndTakesOverAtOnce() {
        var choice = choice(Self.wifi)
        _ = choice.handle(.candidates([Self.bluetooth]), now: .zero)
        #expect(choice.handle(.answered(Self.bluetooth), now: .zero) == [])
        #expect(choice.validatedCount == 2)
        let link = Self.wifi.endpoint.link
        #expect(choice.handle(.linkDown(link), now: .zero) == [.use(Self.bluetooth)])
        #expect(choice.handle(.linkDown(Self.bluetooth.endpoint.link), now: .zero) == [.lost])
    }

    @Test func aLinkThatFailsInUseRestsAndComesBack() {
        var choice = choice(Self.wifi)
        _ = choice.handle(.answered(Self.bluetooth), now: .zero)
        #expect(choice.handle(.suspected, now: .zero) == [.use(Self.bluetooth)])
        let soon = Instant.zero + .seconds(1)
        #expect(choice.handle(.answered(Self.wifi), now: soon) == [])
        let later = Instant.zero + .seconds(3)
        #expect(choice.handle(.answered(Self.wifi), now: later) == [.use(Self.wifi)])
        // The second time it rests longer.
        #expect(choice.handle(.suspected, now: later) == [.use(Self.bluetooth)])
        let again = later + .seconds(3)
        #expect(choice.handle(.answered(Self.wifi), now: again) == [])
        #expect(choice.handle(.answered(Self.wifi), now: again + .seconds(2)) == [.use(Self.wifi)])
    }

    @Test func withoutAStandbyAllAreAskedAndTheFirstToAnswerTakesOver() {
        var choice = choice(Self.wifi)
        _ = choice.handle(.candidates([Self.otherWifi, Self.bluetooth]), now: .zero)
        let soon = Instant.zero + .milliseconds(300)
        let asked = choice.handle(.suspected, now: soon)
        #expect(
            Set(asked) == [
                .challenge(Self.otherWifi.endpoint), .challenge(Self.bluetooth.endpoint),
            ])
        #expect(choice.handle(.answered(Self.bluetooth), now: soon) == [.use(Self.bluetooth)])
    }

    @Test func oneThatRecoveredStays() {
        var choice = choice(Self.wifi)
        #expect(choice.handle(.suspected, now: .zero) == [])
        #expect(choice.handle(.recovered, now: .zero) == [])
        #expect(choice.handle(.answered(Self.bluetooth), now: .zero) == [])
    }

    @Test func anAddressThatDoesNotAnswerIsAskedEverLessOften() {
        var choice = choice(Self.wifi)
        var asked = choice.handle(.candidates([Self.bluetooth]), now: .zero).count
        let end = Instant.zero + .seconds(600)
        while let next = choice.nextDeadline, next < end {
            asked += choice.handle(.deadlineReached, now: next).count
        }
        #expect((15...30).contains(asked), "\(asked)")
        #expect(choice.handle(.suspected, now: end) == [.challenge(Self.bluetooth.endpoint)])
    }

    /// What we send over the link in use does not reach it.
    @Test func whoIsProbedElsewhereFollowsAtOnce() {
        var choice = choice(Self.wifi)
        _ = choice.handle(.answered(Self.otherWifi), now: .zero)
        let soon = Instant.zero + .milliseconds(100)
        #expect(choice.handle(.probed(Self.otherWifi), now: soon) == [])
        let later = Instant.zero + .milliseconds(250)
        #expect(choice.handle(.probed(Self.otherWifi), now: later) == [.use(Self.otherWifi)])
    }

    @Test func tooManyAddressesDisplaceNoneThatIsProved() {
        var choice = choice(Self.wifi)
        _ = choice.handle(.answered(Self.bluetooth), now: .zero)
        for number in 10..<100 as Range<UInt32> {
            _ = choice.handle(.heard(Self.path(number, .wifi)), now: .zero)
        }
        #expect(choice.validatedCount == 2)
        #expect(
            choice.handle(.linkDown(Self.wifi.endpoint.link), now: .zero)
                == [.use(Self.bluetooth)])
    }

    /// In lockstep, each would follow the other for ever.
    @Test func oneSideFollowsTheOther() {
        var sides = [choice(Self.wifi, decides: true), choice(Self.otherWifi, decides: false)]
        _ = sides[0].handle(.answered(Self.otherWifi), now: .zero)
        _ = sides[1].handle(.answered(Self.wifi), now: .zero)
        var now = Instant.zero
        for _ in 0..<100 {
            now = now + .milliseconds(200)
            let used = sides.map(\.used)
            _ = sides[0].handle(.heard(used[1]), now: now)
            _ = sides[1].handle(.heard(used[0]), now: now)
        }
        #expect(sides.map(\.used) == [Self.wifi, Self.wifi])
    }

    /// Both sides of a pair, over links that fail in one or both directions: once it is quiet both
    /// use the same link, the cheapest that works, and stay there.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func bothSidesMeetOnTheCheapestLink(seed: UInt64) {
        var pair = LinkPair(seed: seed)
        for _ in 0..<20 {
            pair.breakSomething()
            pair.run(for: .milliseconds(Int64(pair.random.next() % 8_000)))
        }
        pair.healAllBut(one: Bool(pair.random.next() % 2 == 0))
        pair.run(for: .seconds(150))
        let moves = pair.moves
        pair.run(for: .seconds(120))
        #expect(pair.moves == moves, "it flaps")
        #expect(pair.link(usedBy: 0) == pair.link(usedBy: 1))
        #expect(pair.sides[0].used.linkClass == pair.cheapestWorking)
    }
}

/// Two `LinkChoice`s with a liveness each, over four links, a frame every 200 ms each way.
private struct LinkPair {
    /// As each side numbers them: what comes first for one of them comes last for the other.
    static let paths = [
        [
            LinkChoiceTests.ethernet, LinkChoiceTests.wifi, LinkChoiceTests.otherWifi,
            LinkChoiceTests.bluetooth,
        ],
        [
            LinkChoiceTests.ethernet, LinkChoiceTests.path(12, .wifi),
            LinkChoiceTests.path(11, .wifi), LinkChoiceTests.bluetooth,
        ],
    ]

    var random: SeededGenerator
    var sides: [LinkChoice]
    var liveness: [LivenessMachine]
    var now = Instant.zero
    var moves = 0
    /// By link, and by the side that sends.
    private var works = [[Bool]](repeating: [true, true], count: LinkPair.paths[0].count)
    private var under: [(at: Instant, to: Int, link: Int, LinkMessage)] = []
    private var nextFrames = [Instant.zero, Instant.zero + .milliseconds(70)]

    private enum LinkMessage { case challenge, response, data, probe, answer }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let first = Int(random.next() % 4)
        sides = [0, 1].map {
            LinkChoice(path: Self.paths[$0][first], decides: $0 == 0, now: .zero)
        }
        liveness = [0, 1].map {
            LivenessMachine(
                linkClass: Self.paths[$0][first].linkClass, seed: UInt64($0), now: .zero)
        }
    }

    var cheapestWorking: LinkClass? {
        works.indices.first { works[$0] == [true, true] }.map { Self.paths[0][$0].linkClass }
    }

    mutating func breakSomething() {
        let link = Int(random.next() % UInt64(works.count))
        works[link] = [random.next() % 3 > 0, random.next() % 3 > 0]
    }

    mutating func healAllBut(one: Bool) {
        for link in works.indices { works[link] = [true, true] }
        if one { works[0][Int(random.next() % 2)] = false }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while true {
            let next = min(
                under.map(\.at).min() ?? .distantFuture, nextFrames.min() ?? .distantFuture,
                deadline(0), deadline(1))
            guard next < end else { break }
            now = max(now, next)
            step()
        }
        now = end
    }

    private func deadline(_ side: Int) -> Instant {
        min(
            sides[side].nextDeadline ?? .distantFuture,
            liveness[side].nextDeadline ?? .distantFuture)
    }

    private mutating func step() {
        if let index = under.firstIndex(where: { $0.at <= now }) {
            let (_, side, link, message) = under.remove(at: index)
            return receive(message, side, link)
        }
        for side in 0..<2 {
            if nextFrames[side] <= now {
                nextFrames[side] = now + .milliseconds(200)
                sendUsed(.data, side)
            }
            if sides[side].nextDeadline ?? .distantFuture <= now {
                carryOut(sides[side].handle(.deadlineReached, now: now), side)
            }
            if liveness[side].nextDeadline ?? .distantFuture <= now {
                carryOut(liveness[side].handle(.deadlineReached, now: now), side)
            }
        }
    }

    private mutating func receive(_ message: LinkMessage, _ side: Int, _ link: Int) {
        let path = Self.paths[side][link]
        switch message {
        case .challenge:
            carryOut(sides[side].handle(.heard(path), now: now), side)
            return send(.response, side, link)
        case .response: return carryOut(sides[side].handle(.answered(path), now: now), side)
        case .data, .probe, .answer: break
        }
        let isProbe = message == .probe && self.link(usedBy: side) != link
        carryOut(sides[side].handle(isProbe ? .probed(path) : .heard(path), now: now), side)
        if isProbe, self.link(usedBy: side) != link { send(.answer, side, link) }
        let input: LivenessMachine.Input =
            switch message {
            case .probe: .received(.probe)
            case .answer: .received(.answer)
            default: .frameReceived(isData: true)
            }
        carryOut(liveness[side].handle(input, now: now), side)
    }

    private mutating func carryOut(_ steps: [LinkChoice.Output], _ side: Int) {
        for step in steps {
            switch step {
            case .challenge(let endpoint):
                if let link = link(to: endpoint, side) {
                    send(.challenge, side, link)
                }
            case .use(let path):
                moves += 1
                liveness[side] = LivenessMachine(
                    linkClass: path.linkClass, seed: random.next(), now: now)
            case .lost: break
            }
        }
    }

    /// A neighbour that is lost is challenged at all its addresses, as `Node` does.
    private mutating func carryOut(_ steps: [LivenessMachine.Output], _ side: Int) {
        for step in steps {
            switch step {
            case .send(let bytes):
                sendUsed(bytes == LivenessFrame.probe.bytes ? .probe : .answer, side)
            case .costChanged: _ = sides[side].handle(.recovered, now: now)
            case .suspected: carryOut(sides[side].handle(.suspected, now: now), side)
            case .lost:
                liveness[side] = LivenessMachine(
                    linkClass: sides[side].used.linkClass, seed: random.next(), now: now)
            }
        }
        carryOut(sides[side].handle(.candidates(Self.paths[side]), now: now), side)
    }

    func link(usedBy side: Int) -> Int? { link(to: sides[side].used.endpoint, side) }

    private func link(to endpoint: Endpoint, _ side: Int) -> Int? {
        Self.paths[side].firstIndex { $0.endpoint == endpoint }
    }

    private mutating func sendUsed(_ message: LinkMessage, _ side: Int) {
        let used = sides[side].used.endpoint
        guard let link = link(to: used, side) else { return }
        _ = liveness[side].handle(.frameSent(isData: message == .data), now: now)
        send(message, side, link)
    }

    private mutating func send(_ message: LinkMessage, _ side: Int, _ link: Int) {
        guard works[link][side] else { return }
        let delay = Duration.milliseconds(1 + Int64(random.next() % 5))
        under.append((now + delay, 1 - side, link, message))
    }
}
