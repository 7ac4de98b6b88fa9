import CollectorConfiguration
import NearbyCore
import Store
import Testing

@testable import OutputShell

struct OutputMailTests {
    private let mail: OutputMail
    private let progress: OutputProgress

    init() throws {
        let place = Place()
        progress = try #require(
            try place.open().register([
                OutputRegistration(name: "lines", wantsHistory: false, hold: .zero)
            ]).progress.first)
        let settings = try #require(try place.settings().first)
        mail = try OutputMail(
            settings, OutputSource(path: place.store, generation: 1, progress: [progress]))
    }

    @Test func newsIsTakenOnceAndWhatIsKeptStays() {
        mail.hearNews()
        mail.hearNews()
        mail.kept(batch: 3)
        mail.kept(batch: 2)
        let first = mail.take()
        let second = mail.take()
        #expect(first.hasNews && first.keptBatch == 3 && !first.isStopping)
        #expect(!second.hasNews && second.keptBatch == 3)
        mail.stop()
        #expect(mail.isStopping && mail.take().isStopping)
    }

    @Test func anotherStoreIsToldOnce() {
        let first = mail.takeSource()
        let nothing = mail.takeSource()
        mail.move(to: OutputSource(path: "", generation: 2, progress: []))
        let second = mail.takeSource()
        #expect(first?.generation == 1 && nothing == nil && second?.generation == 2)
    }

    @Test func nobodyGoesOnFromACursorThatIsGivenUp() {
        mail.record(progress, generation: 7)
        mail.abandon()
        #expect(mail.isAbandoned && mail.progress?.generation == 7)
        mail.forget()
        #expect(mail.progress == nil)
    }

    @Test func whoWaitsForTheEndSeesItOrAbandonsIt() {
        mail.waitForEnd(patience: .zero)
        #expect(!mail.isFinished && mail.isAbandoned)
        mail.finish(leaving: nil)
        mail.waitForEnd(patience: .seconds(600))
        #expect(mail.isFinished)
    }
}
