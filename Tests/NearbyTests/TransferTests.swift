import Foundation
import NearbyCore
import Testing

@testable import Nearby

extension LoopbackTests {
    /// Two that are connected, and what they keep on disk below a folder of its own.
    private func pair() async throws -> (Program, Program) {
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        try await anna.connect(with: bert)
        return (anna, bert)
    }

    private func temporaryFolder() throws -> String {
        let path = NSTemporaryDirectory() + "nearby-tests-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        setenv("RIVULET_NEARBY_FILES", path + "/incoming", 1)
        return path
    }

    @Test func aStreamCarriesBytesInOrderAndEnds() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
        let writing = Task {
            let stream = try anna.session.openStream(named: "log", to: bert.peer)
            try await stream.write(bytes)
            stream.finish()
        }
        let stream = try await bert.next { event -> IncomingStream? in
            guard case .stream(let stream, "log", let peer) = event, peer == anna.peer else {
                return nil
            }
            return stream
        }
        let received = try await within(.seconds(30)) {
            var received: [UInt8] = []
            for try await part in stream { received += part }
            return received
        }
        #expect(received == bytes)
        try await writing.value
    }

    /// Only 256 are open at once: the others wait for some of these to end.
    @Test func moreStreamsThanMayBeOpenAtOnceAllArrive() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let count = 2 * Limits.streamsMax + 50
        for number in 0..<count {
            let stream = try anna.session.openStream(named: "\(number)", to: bert.peer)
            #expect(try stream.writeNow([UInt8](repeating: 7, count: 2_000)[...]) == 2_000)
            stream.finish()
        }
        let byteCounts = try await within(.seconds(60)) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    let stream = try await bert.stream()
                    group.addTask {
                        var byteCount = 0
                        for try await part in stream { byteCount += part.count }
                        return byteCount
                    }
                }
                var all: [Int] = []
                for try await byteCount in group { all.append(byteCount) }
                return all
            }
        }
        #expect(byteCounts.count == count && byteCounts.allSatisfy { $0 == 2_000 })
    }

    @Test func streamsThatWaitForOthersEndWithTheSession() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        var streams: [OutgoingStream] = []
        for number in 0..<Limits.streamsMax + 5 {
            let stream = try anna.session.openStream(named: "\(number)", to: bert.peer)
            #expect(try stream.writeNow([1][...]) == 1)
            streams.append(stream)
        }
        bert.session.disconnect()
        let last = try #require(streams.last)
        #expect(
            try await eventually { (try? last.writeNow([1])) == nil })
    }

    @Test func aReaderThatStallsHoldsTheWriterBack() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let stream = try anna.session.openStream(named: "flood", to: bert.peer)
        var count = 0
        let end = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end {
            let taken = try stream.writeNow([UInt8](repeating: 1, count: 65_536)[...])
            count += taken
            if taken == 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(count < 4 << 20)
        // Others go on.
        try await anna.session.send(Array("still here".utf8), to: [bert.peer])
        let reader = try await bert.stream()
        #expect(try await bert.message() == "still here")
        reader.reset()
        #expect(
            try await eventually { (try? stream.writeNow([1])) == nil })
    }

    @Test func aWriterThatResetsIsAnErrorToTheReader() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let stream = try anna.session.openStream(named: "short", to: bert.peer)
        try await stream.write([1, 2, 3])
        let reader = try await bert.stream()
        stream.reset()
        let error = await failure {
            try await within(.seconds(5)) { for try await _ in reader {} }
        }
        #expect(error != nil && error?.code != .timedOut)
    }

    @Test func aFileArrivesWholeUnderItsLastName() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let content = Data((0..<5_000_003).map { UInt8(truncatingIfNeeded: $0 * 131 >> 5) })
        let path = folder + "/picture"
        try content.write(to: URL(fileURLWithPath: path))
        let sending = try anna.session.sendResource(
            file: path, named: "../../etc/picture", to: bert.peer)
        let resource = try await bert.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        #expect(resource.name == "picture")
        #expect(resource.byteCount == 5_000_003)
        let file = try await within(.seconds(30)) { try await resource.file() }
        #expect(file.hasPrefix(folder + "/incoming/"))
        #expect(FileManager.default.contents(atPath: file) == content)
        #expect(resource.current == Progress(completed: 5_000_003, total: 5_000_003))
        try await within(.seconds(5)) { try await sending.finished() }
        #expect(sending.current == Progress(completed: 5_000_003, total: 5_000_003))
    }

    @Test func anEmptyFileArrives() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        _ = FileManager.default.createFile(atPath: folder + "/nothing", contents: Data())
        let sending = try anna.session.sendResource(
            file: folder + "/nothing", named: "nothing", to: bert.peer)
        let resource = try await bert.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        let file = try await within(.seconds(10)) { try await resource.file() }
        #expect(FileManager.default.contents(atPath: file) == Data())
        try await within(.seconds(5)) { try await sending.finished() }
    }

    @Test(arguments: [true, false]) func eitherSideCancelsAFile(isSender: Bool) async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let path = folder + "/large"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        truncate(path, 4 << 30)
        let sending = try anna.session.sendResource(file: path, named: "large", to: bert.peer)
        let resource = try await bert.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        _ = try await eventually { resource.current.completed > 0 }
        if isSender { sending.cancel() } else { resource.cancel() }
        let errors = try await within(.seconds(5)) {
            (
                await failure { try await sending.finished() },
                await failure { _ = try await resource.file() }
            )
        }
        #expect(errors.0?.code == .cancelled)
        #expect(errors.1?.code == .cancelled)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/incoming")
        #expect(left == [])
    }

    /// What was there of it is not sent again.
    /// Programs send a folder of pictures in one loop.
    @Test func filesBeyondThoseThatMayBeUnderWayWaitForOthers() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let count = 3 * Limits.resourcesMax
        var sending: [OutgoingResource] = []
        for number in 0..<count {
            let path = "\(folder)/\(number)"
            try Data("picture \(number)".utf8).write(to: URL(fileURLWithPath: path))
            sending.append(
                try anna.session.sendResource(file: path, named: "\(number)", to: bert.peer))
        }
        // The last one is not wanted after all.
        try #require(sending.last).cancel()
        #expect(await failure { try await sending.removeLast().finished() }?.code == .cancelled)
        for _ in 1..<count {
            let resource = try await bert.next { event -> IncomingResource? in
                guard case .resource(let resource) = event else { return nil }
                return resource
            }
            let file = try await within(.seconds(20)) { try await resource.file() }
            let content = FileManager.default.contents(atPath: file)
            #expect(content == Data("picture \(resource.name)".utf8))
        }
        for resource in sending { try await within(.seconds(20)) { try await resource.finished() } }
        bert.session.disconnect()
    }

    @Test func aFileGoesOnWhereItEnded() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let path = folder + "/long"
        let content = Data((0..<40_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 4) })
        try content.write(to: URL(fileURLWithPath: path))
        let first = try anna.session.sendResource(file: path, named: "long", to: bert.peer)
        let begun = try await bert.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        try #require(
            try await eventually(.seconds(60)) { begun.current.completed > 1_000_000 })
        anna.session.disconnect()
        #expect(await failure { try await first.finished() } != nil)
        #expect(await failure { _ = try await begun.file() } != nil)
        try #require(try await eventually { bert.session.connectedPeers == [] })
        try await anna.browser.invite(bert.peer, to: anna.session)
        let second = try anna.session.sendResource(file: path, named: "long", to: bert.peer)
        let resumed = try await bert.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        #expect(resumed.current.completed > 500_000)
        let file = try await within(.seconds(60)) { try await resumed.file() }
        #expect(FileManager.default.contents(atPath: file) == content)
        try await within(.seconds(5)) { try await second.finished() }
    }

    /// What is on its way from before, and what says that it is over, confuses neither side.
    @Test func streamsAndFilesGoAfterLeavingAndComingBackAtOnce() async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        let path = folder + "/note"
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 11 >> 3) })
        try content.write(to: URL(fileURLWithPath: path))
        for _ in 1...3 {
            let flood = try bert.session.openStream(named: "flood", to: anna.peer)
            let flooding = Task {
                await failure { while true { try await flood.write([UInt8](content)) } }
            }
            let reader = try await anna.next { event -> IncomingStream? in
                guard case .stream(let stream, "flood", _) = event else { return nil }
                return stream
            }
            var bytes = reader.makeAsyncIterator()
            for _ in 0..<20 { _ = try await bytes.next() }
            anna.session.disconnect()
            try await anna.browser.invite(bert.peer, to: anna.session, timeout: .seconds(10))
            #expect(await flooding.value?.code == .notConnected)
            try #require(try await eventually { bert.session.connectedPeers == [anna.peer] })
            for (sender, receiver) in [(anna, bert), (bert, anna)] {
                try await send([UInt8](content), path, from: sender, to: receiver)
            }
        }
    }

    /// A short stream and a file, which both arrive.
    private func send(
        _ content: [UInt8], _ path: String, from sender: Program, to receiver: Program
    ) async throws {
        let stream = try sender.session.openStream(named: "after", to: receiver.peer)
        try await stream.write([1, 2, 3])
        stream.finish()
        let reader = try await receiver.next { event -> IncomingStream? in
            guard case .stream(let stream, "after", _) = event else { return nil }
            return stream
        }
        let received = try await within(.seconds(10)) {
            var received: [UInt8] = []
            for try await part in reader { received += part }
            return received
        }
        #expect(received == [1, 2, 3])
        let sending = try sender.session.sendResource(file: path, named: "n", to: receiver.peer)
        let resource = try await receiver.next { event -> IncomingResource? in
            guard case .resource(let resource) = event else { return nil }
            return resource
        }
        let file = try await within(.seconds(10)) { try await resource.file() }
        #expect(FileManager.default.contents(atPath: file) == Data(content))
        #expect(resource.current.completed == Int64(content.count))
        try await within(.seconds(10)) { try await sending.finished() }
    }

    @Test func aFileThatCannotBeReadIsRefusedAtOnce() async throws {
        let (anna, bert) = try await pair()
        defer { for program in [anna, bert] { program.stop() } }
        for path in ["/nonexistent", "/tmp", "/dev/zero"] {
            let error = await failure {
                _ = try anna.session.sendResource(file: path, named: "x", to: bert.peer)
            }
            #expect(error?.code == .invalidParameter)
        }
    }
}
