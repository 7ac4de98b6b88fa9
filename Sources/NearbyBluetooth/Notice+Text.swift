import NearbyLinux

extension AdapterMachine.Notice {
    var description: String {
        switch self {
        case .noController: "no controller that fits"
        case .using(let adapter): "hci\(adapter.index) \(adapter.address) is used"
        case .gone: "the controller is gone"
        case .poweredOff: "the controller was switched off; it is switched on again soon"
        case .rfkilled: "the controller is blocked by rfkill; `rfkill unblock bluetooth` frees it"
        case .permissionDenied: "not permitted; it needs CAP_NET_ADMIN"
        case .failed(let code, let status): "\(code): \(status)"
        case .cannotListen(let code): "\(SystemError(call: "listen", code: code))"
        }
    }

    var gravity: BluetoothEvent.Gravity {
        switch self {
        case .using: .information
        case .noController, .permissionDenied: .missing
        case .gone, .poweredOff, .rfkilled: .change
        case .failed, .cannotListen: .failure
        }
    }
}
