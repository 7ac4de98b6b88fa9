import NearbyCore
import NearbyLinux

extension AdapterMachine.Diagnostic {
    var description: String {
        switch self {
        case .noController: "no controller that fits"
        case .using(let adapter): "hci\(adapter.index) \(adapter.address) is used"
        case .gone: "the controller is gone"
        case .poweredOff: "the controller was switched off; it is switched on again soon"
        case .rfkilled: "the controller is blocked by rfkill; `rfkill unblock bluetooth` frees it"
        case .permissionDenied:
            "not permitted; it needs CAP_NET_ADMIN and CAP_NET_RAW, which "
                + "`rivulet init --devices` gives the service"
        case .failed(let code, let status): "\(code): \(status)"
        case .cannotMonitor:
            "this kernel or controller cannot monitor advertisements; sensors are heard in scans "
                + "with pauses"
        case .receptionLost:
            "nobody was heard for \(ReceptionWatchdog.silence.components.seconds / 60) minutes; "
                + "reception begins anew"
        case .cycling: "still nobody is heard; the controller is switched off and on"
        case .receptionRestored: "somebody is heard again"
        case .otherNetwork(let prefix, let address):
            "node \(Self.text(ofPrefix: prefix)) at \(address) is of another network: if it "
                + "belongs to this one, give both the same `network`"
        case .cannotListen(let code): "\(SystemError(call: "listen", code: code))"
        }
    }

    var severity: BluetoothEvent.Severity {
        switch self {
        case .using, .receptionRestored, .cannotMonitor: .information
        case .noController, .permissionDenied: .missing
        case .gone, .poweredOff, .rfkilled, .receptionLost, .cycling, .otherNetwork: .change
        case .failed, .cannotListen: .failure
        }
    }

    /// The digits of a PeerID that 48 bits decide: nine, as `rivulet status` shows it.
    private static func text(ofPrefix prefix: UInt64) -> String {
        let peer = PeerID(high: prefix << 16, low: 0)
        return peer.description.prefix(10) + "…"
    }
}
