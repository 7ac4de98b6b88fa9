import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyDTLS

/// Against the `openssl` program over a real socket on the loopback interface.
@Suite(.enabled(if: access("/usr/bin/openssl", X_OK) == 0)) struct InteroperationTests {
    private let server = OpenSSLCryptography(key: .generate())

    @Test func opensslClientWithACertificateGetsThrough() throws {
        let key = KeyPair.generate()
        try withTemporaryDirectory { directory in
            let path = directory + "/client.pem"
            try AtomicFile.write(key.pem(), to: path, permissions: 0o600, through: SystemFiles())
            let state = try serve(arguments: ["-cert", path, "-key", path])
            guard case .finished(let result) = state else { Issue.record("\(state)"); return }
            #expect(result.peer == key.peer)
        }
    }

    @Test func opensslClientWithoutACertificateIsRefused() throws {
        let state = try serve(arguments: [])
        guard case .failed(.handshakeFailed, _) = state else { Issue.record("\(state)"); return }
    }

    @Test func opensslClientOfTheAuthorityGetsThroughAndAnotherDoesNot() throws {
        try withTemporaryDirectory { directory in
            let authority = try TestAuthority(in: directory)
            let server = try authority.makeNode("center", as: "collector")
            let member = try authority.makeIdentity("member")
            try authority.sign("member")
            let state = try serve(
                as: server,
                arguments: [
                    "-cert", authority.path("member.pem"), "-key",
                    authority.path("member/identity.pem"), "-CAfile", authority.anchors,
                    "-verify_return_error",
                ])
            guard case .finished(let result) = state else { Issue.record("\(state)"); return }
            #expect(result.peer == member.peer && result.certification?.names(.agent) == false)

            let own = authority.path("member/identity.pem")
            let stranger = try serve(as: server, arguments: ["-cert", own, "-key", own])
            guard case .failed(.handshakeCertificate, _) = stranger else {
                Issue.record("\(stranger)")
                return
            }
        }
    }

    /// Runs `openssl s_client -dtls1_2` against us until the handshake is over, five seconds at
    /// most.
    private func serve(
        as other: OpenSSLCryptography? = nil, arguments: [String]
    ) throws -> HandshakeState {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = bind(descriptor, generic, length)
                _ = getsockname(descriptor, generic, &length)
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        let process = try spawn(
            ["s_client", "-dtls1_2", "-connect", "127.0.0.1:\(port)"] + arguments)
        defer {
            kill(process, SIGTERM)
            waitpid(process, nil, 0)
        }
        return converse(on: descriptor, as: other ?? server)
    }

    private func converse(
        on descriptor: Int32, as server: OpenSSLCryptography
    ) -> HandshakeState {
        let start = now()
        var channel: (any SecureChannel)?
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while now() - start < .seconds(5) {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 50) > 0 else {
                channel?.deadlineReached(now: now())
                continue
            }
            var sender = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &sender) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
                }
            }
            var replies: [[UInt8]] = []
            if let channel {
                channel.receive(buffer[..<max(0, count)], now: now())
            } else {
                switch server.listen(buffer[..<max(0, count)], from: [1], now: now()) {
                case .reply(let bytes): replies = [bytes]
                case .accepted(let accepted): channel = accepted
                case .dropped: break
                }
            }
            replies += channel?.takeOutgoing() ?? []
            for bytes in replies {
                withUnsafePointer(to: &sender) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = sendto(descriptor, bytes, bytes.count, 0, $0, length)
                    }
                }
            }
            if let state = channel?.state, state != .running { return state }
        }
        return channel?.state ?? .failed(.handshakeTimeout, "nobody came")
    }

    /// Starts openssl with nothing to read and its output thrown away.
    private func spawn(_ arguments: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var pointers = (["openssl"] + arguments).map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, "/usr/bin/openssl", &actions, nil, &pointers, environ)
        guard result == 0 else {
            throw FileError(operation: "posix_spawn", path: "openssl", code: result)
        }
        return process
    }

    private func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
