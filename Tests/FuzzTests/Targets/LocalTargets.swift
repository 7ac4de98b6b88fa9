import Glibc
import NearbyCore
import NearbyKeys

@testable import NearbyDTLS
@testable import NearbyLinux

extension FuzzTarget {
    /// What lies and speaks on this machine.
    static let local: [FuzzTarget] = [
        FuzzTarget("control") { control($0) },
        FuzzTarget("identity") { identity($0) },
    ]

    /// Size of the pieces 1, eights | what a client writes. It gets back each of its lines, as
    /// lines of a reply.
    private static func control(_ bytes: [UInt8]) {
        guard let size = bytes.first else { return }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "no sockets")
        guard let near = try? FileDescriptor(taking: ends[0], from: "socketpair"),
            let far = try? FileDescriptor(taking: ends[1], from: "socketpair")
        else { preconditionFailure("no descriptors") }
        let connection = ControlConnection(near)
        var rest = bytes.dropFirst()
        var requests: [String] = []
        var isTooLong = false
        while !rest.isEmpty, !isTooLong {
            let piece = Array(rest.prefix(max(8, Int(size) * 8)))
            rest = rest.dropFirst(piece.count)
            precondition(write(far.raw, piece, piece.count) == piece.count, "the socket is full")
            precondition(connection.read(), "it gives up")
            taking: while true {
                switch connection.nextRequest() {
                case .request(let line):
                    precondition(line.utf8.count <= 3 * Limits.controlRequestBytesMax, "too long")
                    requests.append(line)
                case .tooLong:
                    isTooLong = true
                    break taking
                case .incomplete: break taking
                }
            }
        }
        reply(connection, with: requests, to: far)
    }

    private static func reply(
        _ connection: ControlConnection, with lines: [String], to far: FileDescriptor
    ) {
        connection.open()
        connection.append(lines, isEnd: true)
        precondition(connection.write(), "it gives up")
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        let count = max(0, read(far.raw, &buffer, buffer.count))
        let received = buffer[..<count].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let end = received.firstIndex { $0.elementsEqual([UInt8(ascii: ".")]) }
        precondition(end == received.count - 2, "a reply ends within")
        let unstuffed = received.dropLast(2).map {
            $0.first == UInt8(ascii: ".") ? $0.dropFirst() : $0
        }
        precondition(
            unstuffed.map { String(decoding: $0, as: UTF8.self) } == lines,
            "the reply is not what it was")
    }

    /// The board's serial number, a zero, identity.pem. What is taken up is kept under this board's
    /// name.
    private static func identity(_ bytes: [UInt8]) {
        let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return }
        let files = MemoryFiles()
        files.contents["/proc/device-tree/serial-number"] = Array(halves[0])
        files.contents["/state/identity.pem"] = Array(halves[1])
        do throws(IdentityError) {
            let adopted = try NodeIdentity.adopt(stateDirectory: "/state", through: files)
            let again = try? NodeIdentity.load(
                stateDirectory: "/state", rule: .refuse, through: files)
            precondition(again?.peer == adopted.peer, "it is not what was kept")
        } catch {
            precondition(!error.description.isEmpty, "refused without a word")
            precondition(
                files.contents["/state/identity.pem"] == Array(halves[1]), "it is lost")
        }
    }
}
