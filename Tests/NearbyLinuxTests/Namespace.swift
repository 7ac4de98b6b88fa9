import CLinux
import Glibc
import NearbyLinux
import Testing

/// Tests that make network namespaces need root.
let isRoot = geteuid() == 0
let needsRoot: Comment = "skipped: network namespaces need root"

/// A network namespace of this test alone, gone with it.
final class Namespace {
    let name: String

    init(_ purpose: String) throws {
        name = "rvlt-\(getpid())-\(purpose)"
        try shell("ip netns add \(name)")
        // Without duplicate address detection an IPv6 address is ready at once.
        try run("sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'")
    }

    deinit { try? shell("ip netns del \(name)") }

    /// Runs a command inside.
    func run(_ command: String) throws { try shell("ip netns exec \(name) \(command)") }

    /// Runs code inside, on a thread that ends with it. Sockets that it opens stay inside.
    func inside<Value>(_ body: @escaping () throws -> Value) throws -> Value {
        let path = "/run/netns/\(name)"
        return try Thread {
            let file = try FileDescriptor(
                taking: open(path, O_RDONLY | O_CLOEXEC), from: "open \(path)")
            guard setns(file.raw, CLONE_NEWNET) == 0 else {
                throw SystemError(call: "setns", code: errno)
            }
            return try body()
        }.join()
    }

    /// A cable to another namespace: at both ends `lan0`, here 10.77.0.1/24 and there 10.77.0.2/24.
    func connect(to other: Namespace) throws {
        try shell("ip -n \(name) link add lan0 type veth peer name lan0 netns \(other.name)")
        try shell("ip -n \(name) address add 10.77.0.1/24 brd + dev lan0")
        try shell("ip -n \(other.name) address add 10.77.0.2/24 brd + dev lan0")
        try shell("ip -n \(name) link set lan0 up")
        try shell("ip -n \(other.name) link set lan0 up")
    }

    /// Runs many commands of `ip` in one process.
    func batch(_ commands: String) throws {
        let path = temporaryPath("batch-\(name)")
        let file = try FileDescriptor(
            taking: open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600), from: path)
        defer { unlink(path) }
        _ = write(file.raw, commands, commands.utf8.count)
        try shell("ip -n \(name) -batch \(path)")
    }

    func link(_ command: String) throws { try shell("ip -n \(name) link \(command)") }
}

private func shell(_ command: String) throws {
    let status = system(command)
    if status != 0 { throw SystemError(call: command, code: status) }
}
