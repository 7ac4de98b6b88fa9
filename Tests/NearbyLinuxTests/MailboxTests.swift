import NearbyCore
import NearbyLinux
import Testing

@Suite struct MailboxTests {
    @Test func messagesOfAnotherThreadComeInOrderOnTheLoop() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var seen: [Int] = []
        try loop.register(mailbox) {
            seen.append($0)
            if seen.count == 1_000 { loop.stop() }
        }
        let poster = Thread {
            for number in 0..<1_000 {
                while !mailbox.post(number) {}
            }
        }
        try loop.run(until: MonotonicClock.now() + .seconds(20))
        try poster.join()
        #expect(seen == Array(0..<1_000))
    }

    @Test func aFullMailboxSaysSoAndKeepsWhatItHas() throws {
        let mailbox = try Mailbox<Int>(capacity: 2)
        #expect(mailbox.post(1))
        #expect(mailbox.post(2))
        #expect(!mailbox.post(3))
        #expect(mailbox.take() == [1, 2])
        #expect(mailbox.post(4))
        #expect(mailbox.take() == [4])
        #expect(mailbox.take() == [])
    }

    @Test func whatOnePassLeavesComesInTheNext() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        for number in 0..<Limits.mailboxMessagesMax { #expect(mailbox.post(number)) }
        var count = 0
        var timerRanAt = 0
        try loop.register(mailbox) { _ in
            count += 1
            if count == Limits.mailboxMessagesMax { loop.stop() }
        }
        let timer = loop.addTimer { _ in timerRanAt = count }
        loop.set(timer, to: .zero)
        try loop.run(until: MonotonicClock.now() + .seconds(20))
        #expect(count == Limits.mailboxMessagesMax)
        #expect(timerRanAt == Limits.mailboxMessagesPerPass)
    }
}
