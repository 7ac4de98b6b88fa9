import CBluetooth
import Glibc
import NearbyCore
import NearbyLinux

/// An L2CAP socket: a listener, or one channel whose messages keep their boundaries.
///
/// The radio neither pairs nor encrypts (BT_SECURITY_LOW): what goes over it is sealed already.
struct ChannelSocket {
    let file: FileDescriptor
    let isClassic: Bool

    enum Received {
        case message([UInt8])
        case nothing
        /// `errno`, or 0 for an orderly end.
        case ended(Int32)
    }

    enum Sent {
        case sent, wouldBlock
        case failed(Int32)
    }

    /// Begins to take channels at our own address; PSM 0 takes one of the kernel's choice.
    static func listening(
        at own: BluetoothAddress, psm: UInt16
    ) throws(SystemError) -> (socket: ChannelSocket, psm: UInt16) {
        let socket = try bound(to: own, psm: psm)
        guard listen(socket.file.raw, 5) == 0 else {
            throw SystemError(call: "listen L2CAP", code: errno)
        }
        return (socket, cbluetooth_own_psm(socket.file.raw))
    }

    /// Begins to connect; the socket becomes writable when that is done, or failed.
    static func connecting(
        from own: BluetoothAddress, to other: BluetoothAddress, psm: UInt16
    ) throws(SystemError) -> ChannelSocket {
        let socket = try bound(to: own, psm: 0)
        let result = cbluetooth_connect(
            socket.file.raw, other.value, other.kind.rawValue, psm)
        guard result == 0 || errno == EINPROGRESS else {
            throw SystemError(call: "connect L2CAP", code: errno)
        }
        return socket
    }

    /// Nil if nobody waits.
    func accept() -> (socket: ChannelSocket, from: BluetoothAddress)? {
        var value: UInt64 = 0
        var kind: UInt8 = 0
        let raw = cbluetooth_accept(file.raw, &value, &kind)
        guard raw >= 0, let file = try? FileDescriptor(taking: raw, from: "accept L2CAP"),
            let kind = BluetoothAddressKind(rawValue: kind)
        else { return nil }
        return (
            ChannelSocket(file: file, isClassic: kind == .classic),
            BluetoothAddress(value: value, kind: kind)
        )
    }

    /// How the connect ended: 0, or `errno`.
    var connectResult: Int32 { cbluetooth_error(file.raw) }

    /// The largest message, bytes: what the other side takes, and no more than a datagram.
    var messageBytesMax: Int {
        min(Limits.datagramBytesMax, Int(cbluetooth_send_mtu(file.raw, isClassic ? 1 : 0)))
    }

    /// To be called when the channel is open. A short time limit although the socket does not
    /// block: kernels up to 6.1 at least overlook that where the other side gives no credits
    /// (`bt_sock_wait_ready`). While connecting, the same limit would end the attempt.
    func limitSending() {
        var limit = timeval(tv_sec: 0, tv_usec: 1)
        setsockopt(
            file.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func receive(_ buffer: inout [UInt8]) -> Received {
        let count = recv(file.raw, &buffer, buffer.count, 0)
        if count > 0 { return .message(Array(buffer.prefix(count))) }
        if count == 0 { return .ended(0) }
        return errno == EAGAIN || errno == EINTR ? .nothing : .ended(errno)
    }

    func send(_ bytes: [UInt8]) -> Sent {
        if Glibc.send(file.raw, bytes, bytes.count, cbluetooth_msg_nosignal()) >= 0 {
            return .sent
        }
        return errno == EAGAIN || errno == ENOBUFS ? .wouldBlock : .failed(errno)
    }

    private static func bound(
        to own: BluetoothAddress, psm: UInt16
    ) throws(SystemError) -> ChannelSocket {
        let file = try FileDescriptor(taking: cbluetooth_channel_socket(), from: "socket L2CAP")
        let isClassic = own.kind == .classic
        guard cbluetooth_bind(file.raw, own.value, own.kind.rawValue, psm) == 0 else {
            throw SystemError(call: "bind L2CAP \(own)", code: errno)
        }
        _ = cbluetooth_set_low_security(file.raw)
        _ = cbluetooth_set_receive_mtu(
            file.raw, isClassic ? 1 : 0, UInt16(Limits.datagramBytesMax))
        var bytes = sendBufferBytes
        setsockopt(file.raw, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        return ChannelSocket(file: file, isClassic: isClassic)
    }

    /// Little: what waits in the kernel can no longer be overtaken by what is newer.
    private static let sendBufferBytes: Int32 = 16_384
}
