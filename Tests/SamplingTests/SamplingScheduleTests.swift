import NearbyCore
import Testing

@testable import Sampling

struct SamplingScheduleTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test func allAreReadAtTheStartAndSpreadAfterwards() {
        var schedule = SamplingSchedule(periods: [Duration](repeating: .seconds(1), count: 4))
        #expect(schedule.nextDeadline == nil)
        #expect(schedule.handle(.start, now: at(0)) == (0..<4).map { .sample($0) })
        for index in 0..<4 { #expect(schedule.handle(.completed(index), now: at(1)) == []) }
        var times: [[Int64]] = [[], [], [], []]
        while let deadline = schedule.nextDeadline, deadline <= at(3_500) {
            for output in schedule.handle(.deadlineReached, now: deadline) {
                guard case .sample(let index) = output else { continue }
                times[index].append((deadline - at(0)).milliseconds)
                _ = schedule.handle(.completed(index), now: deadline)
            }
        }
        #expect(times[0] == [1_000, 2_000, 3_000])
        #expect(times[1] == [875, 1_875, 2_875])
        #expect(times[2] == [750, 1_750, 2_750])
        #expect(times[3] == [625, 1_625, 2_625])
    }

    @Test func whatIsReadOrDueIsExpectedAndWhatHangsIsNot() {
        var schedule = SamplingSchedule(periods: [.seconds(1), .seconds(10)])
        #expect(!schedule.expectsSample(by: at(9_000)))
        _ = schedule.handle(.start, now: at(0))
        #expect(schedule.expectsSample(by: at(1)))
        _ = schedule.handle(.completed(1), now: at(1))
        #expect(schedule.expectsSample(by: at(2)))
        _ = schedule.handle(.completed(0), now: at(2))
        #expect(!schedule.expectsSample(by: at(999)))
        #expect(schedule.expectsSample(by: at(1_000)))
        _ = schedule.handle(.deadlineReached, now: at(1_000))
        #expect(schedule.expectsSample(by: at(1_001)))
        #expect(schedule.handle(.deadlineReached, now: at(2_000)) == [.overdue(0)])
        #expect(!schedule.expectsSample(by: at(2_001)))
        _ = schedule.handle(.completed(0), now: at(2_500))
        _ = schedule.handle(.deadlineReached, now: at(3_000))
        #expect(schedule.expectsSample(by: at(3_001)))
    }

    @Test func aSensorThatNeverComesBackIsOverdueOnceAPeriodAndDelaysNobody() {
        var schedule = SamplingSchedule(periods: [.seconds(1), .seconds(1)])
        _ = schedule.handle(.start, now: at(0))
        var overdue = 0
        var read = 0
        _ = schedule.handle(.completed(1), now: at(5))
        while let deadline = schedule.nextDeadline, deadline <= at(10_000) {
            for output in schedule.handle(.deadlineReached, now: deadline) {
                switch output {
                case .overdue(let index):
                    #expect(index == 0)
                    overdue += 1
                case .sample(let index):
                    #expect(index == 1)
                    read += 1
                    _ = schedule.handle(.completed(index), now: deadline)
                }
            }
        }
        #expect(overdue == 10)
        #expect(read == 10)
        #expect(schedule.handle(.completed(0), now: at(10_001)) == [])
        #expect(schedule.handle(.deadlineReached, now: at(11_000)).contains(.sample(0)))
    }

    @Test func lateAndRepeatedDeadlinesAreHarmless() {
        var schedule = SamplingSchedule(periods: [.seconds(1)])
        _ = schedule.handle(.start, now: at(0))
        _ = schedule.handle(.completed(0), now: at(1))
        #expect(schedule.handle(.deadlineReached, now: at(500)) == [])
        #expect(schedule.handle(.deadlineReached, now: at(7_300)) == [.sample(0)])
        #expect(schedule.handle(.deadlineReached, now: at(7_300)) == [])
        #expect(schedule.nextDeadline.map { $0 > at(7_300) && $0 <= at(8_300) } == true)
    }

    @Test func noSensorsAndUnknownOnesAreHarmless() {
        var schedule = SamplingSchedule(periods: [])
        #expect(schedule.handle(.start, now: at(0)) == [])
        #expect(schedule.handle(.completed(3), now: at(0)) == [])
        #expect(schedule.handle(.completed(-1), now: at(0)) == [])
        #expect(schedule.nextDeadline == nil)
    }

    @Test func aPeriodOfNothingDoesNotSpin() {
        var schedule = SamplingSchedule(periods: [.zero])
        _ = schedule.handle(.start, now: at(0))
        #expect(schedule.nextDeadline.map { $0 > at(0) } == true)
    }
}
