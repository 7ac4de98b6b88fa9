import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite(.serialized) struct ResourceTests {
    @Test func fileIsSentFromWhereItIs() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("resource-test-\(UUID().uuidString)")
        try Data("hello".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await LocalFile(of: file).path == file.path)
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func fileThatIsNotThereIsAnError() async {
        let error = await Self.failure(of: URL(fileURLWithPath: "/nonexistent/file"))
        #expect(error?.code == .unavailable)
        #expect(error?.localizedDescription == "/nonexistent/file cannot be read.")
    }

    @Test func webAddressIsFetchedToAFileThatGoesAgain() async throws {
        let server = try WebServer(status: "200 OK", body: "hello from the web")
        var file: LocalFile? = try await LocalFile(of: server.url)
        let path = try #require(file?.path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "hello from the web")
        file = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func answerThatIsNoSuccessIsAnError() async throws {
        let server = try WebServer(status: "404 Not Found", body: "no")
        let error = await Self.failure(of: server.url)
        #expect(error?.code == .unavailable)
        #expect(error?.localizedDescription.contains("the server answered 404") == true)
    }

    /// Of whoever fails, or is not wanted any more, nothing stays; a password is not asked for.
    @Test(arguments: [
        "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"", "404 Not Found",
        "500 Internal Server Error", "302 Found",
    ])
    func whatFailsLeavesNothingBehind(_ status: String) async throws {
        let before = try Self.temporaryFiles
        let server = try WebServer(status: status, body: "no")
        let error = await Self.failure(of: server.url)
        #expect(error?.code == .unavailable)
        #expect(error?.localizedDescription.contains("answered \(status.prefix(3))") == true)
        #expect(try await Self.areGone(since: before))
    }

    @Test func whatIsCancelledEndsAtOnceAndLeavesNothingBehind() async throws {
        let before = try Self.temporaryFiles
        let server = try WebServer(status: "200 OK", body: "late", after: 60)
        let fetching = Task { try await LocalFile(of: server.url) }
        try await Task.sleep(for: .milliseconds(200))
        fetching.cancel()
        await #expect(throws: CancellationError.self) { try await fetching.value }
        #expect(try await Self.areGone(since: before))
    }

    @Test func redirectionIsFollowed() async throws {
        let server = try WebServer(status: "200 OK", body: "found")
        let first = try WebServer(status: "302 Found\r\nLocation: \(server.url)", body: "")
        let file = try await LocalFile(of: first.url)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "found")
        withExtendedLifetime((first, server)) {}
    }

    /// A download that was cancelled sees it within a second; other tests may fetch meanwhile.
    private static func areGone(since before: Set<String>) async throws -> Bool {
        for _ in 0..<100 {
            if try temporaryFiles.isSubset(of: before) { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private static var temporaryFiles: Set<String> {
        get throws {
            let folder = FileManager.default.temporaryDirectory.path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return Set(names.filter { $0.hasPrefix("resource-") || $0.hasSuffix(".tmp") })
        }
    }

    @Test func serverThatIsNotThereIsAnError() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/nothing"))
        #expect(await Self.failure(of: url)?.code == .unavailable)
    }

    @Test func progressIsObserved() async {
        let progress = Progress(totalUnitCount: 10)
        let seen = Guarded<[Double]>([])
        let observation = progress.observe(\.fractionCompleted, options: [.new]) { progress, _ in
            seen.with { $0.append(progress.fractionCompleted) }
        }
        try? await Task.sleep(for: .milliseconds(150))
        progress.completedUnitCount = 5
        try? await Task.sleep(for: .milliseconds(300))
        progress.completedUnitCount = 10
        try? await Task.sleep(for: .milliseconds(300))
        #expect(seen.with { $0 } == [0.5, 1])
        observation.invalidate()
        progress.completedUnitCount = 3
        try? await Task.sleep(for: .milliseconds(150))
        #expect(seen.with { $0.count } == 2)
    }

    @Test func schemesAreOfAnyCase() async throws {
        let server = try WebServer(status: "200 OK", body: "hello")
        let address = server.url.absoluteString.replacingOccurrences(of: "http:", with: "HTTP:")
        let file = try await LocalFile(of: try #require(URL(string: address)))
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "hello")
        withExtendedLifetime(server) {}
    }

    /// A program ends its observation when it is told that the resource is there.
    @Test func theEndIsSeenAtOnce() async {
        let progress = Progress.discreteProgress(totalUnitCount: 10)
        let seen = Guarded<[Double]>([])
        let other = Progress(totalUnitCount: 10)
        let observations = [progress, other].map { observed in
            observed.observe(\.fractionCompleted) { progress, _ in
                seen.with { $0.append(progress.fractionCompleted) }
            }
        }
        other.completedUnitCount = 3
        await progress.complete()
        observations.forEach { $0.invalidate() }
        #expect(seen.with { $0.filter { $0 == 1 } } == [1])
        await progress.complete()
        #expect(seen.with { $0.filter { $0 == 1 } } == [1])
    }

    @Test func aFileOfNothingIsCompleteInTheEnd() async {
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        await progress.complete()
        #expect(progress.isFinished && progress.fractionCompleted == 1)
    }

    @Test func whatIsFetchedForAPeerThatLeavesIsFetchedNoMore() async throws {
        let (gabe, jeff) = await Person.connectedPair()
        defer { for person in [gabe, jeff] { person.session.disconnect() } }
        // A server that takes the connection, and says nothing.
        let server = try WebServer(status: "200 OK", body: "late", after: 60)
        let told = gabe.sends(server.url, as: "page", to: jeff)
        jeff.session.disconnect()
        await gabe.waits { _ in !told.with { $0.isEmpty } }
        #expect(told.with { $0.map { $0?.code } } == [.notConnected])
    }

    private static func failure(of url: URL) async -> MCError? {
        do {
            _ = try await LocalFile(of: url)
            return nil
        } catch {
            return error as? MCError
        }
    }
}

/// Answers one request on the loopback interface.
final class WebServer: Sendable {
    let url: URL
    private let listener: Int32

    /// - Parameter pause: Before it answers, seconds.
    init(status: String, body: String, after pause: TimeInterval = 0) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = bind(listener, pointer, size)
                _ = listen(listener, 1)
                _ = getsockname(listener, pointer, &size)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        url = try #require(URL(string: "http://127.0.0.1:\(port)/file.txt"))
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4_096)
            _ = recv(connection, &request, request.count, 0)
            Thread.sleep(forTimeInterval: pause)
            let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n"
            let answer = Array((head + "Connection: close\r\n\r\n" + body).utf8)
            _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            close(connection)
        }
    }

    deinit { close(listener) }
}
