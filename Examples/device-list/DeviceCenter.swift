import Foundation
import MultipeerConnectivity

/// All devices nearby. There is one; it lives on the main queue.
final class DeviceCenter: NSObject {
    static let shared = DeviceCenter()

    /// Those that are nearby or connected, in the order they were found.
    private(set) var devices: [Device] = []
    /// One's own, the same at every start.
    let peerID: MCPeerID

    private static let serviceType = "rv-device-list"
    private var advertiser: MCNearbyServiceAdvertiser?
    private var browser: MCNearbyServiceBrowser?
    private var room = ""

    private override init() {
        peerID = Self.rememberedPeerID()
        super.init()
    }

    /// - Parameter room: Only devices that name the same in their discovery info are listed.
    func start(room: String) {
        guard browser == nil else { return }
        self.room = room
        let advertiser = MCNearbyServiceAdvertiser(
            peer: peerID, discoveryInfo: ["room": room], serviceType: Self.serviceType)
        advertiser.delegate = self
        advertiser.startAdvertisingPeer()
        self.advertiser = advertiser
        let browser = MCNearbyServiceBrowser(peer: peerID, serviceType: Self.serviceType)
        browser.delegate = self
        browser.startBrowsingForPeers()
        self.browser = browser
    }

    /// For the background: nobody shall find a device that does not answer.
    func stop() {
        advertiser?.stopAdvertisingPeer()
        browser?.stopBrowsingForPeers()
        (advertiser, browser) = (nil, nil)
        let left = devices
        devices = []
        for device in left { device.disconnect() }
        NotificationCenter.default.post(name: .devicesDidChange, object: self)
    }

    func invite(_ device: Device) {
        if let browser { device.invite(with: browser) }
    }

    /// A device that is neither nearby nor connected is not listed.
    func removeIfGone(_ device: Device) {
        guard !device.isNearby, device.state == .notConnected,
            let index = devices.firstIndex(where: { $0 === device })
        else { return }
        devices.remove(at: index)
        NotificationCenter.default.post(name: .devicesDidChange, object: self)
    }

    private func setNearby(_ device: Device, _ isNearby: Bool) {
        device.isNearby = isNearby
        NotificationCenter.default.post(name: .devicesDidChange, object: self)
    }

    private func device(for peer: MCPeerID) -> Device {
        if let known = devices.first(where: { $0.peerID == peer }) { return known }
        let device = Device(peerID: peer)
        devices.append(device)
        NotificationCenter.default.post(name: .devicesDidChange, object: self)
        return device
    }

    /// From the user defaults, and put there the first time: devices that saw it before know it.
    private static func rememberedPeerID() -> MCPeerID {
        let key = "peerID"
        if let data = UserDefaults.standard.data(forKey: key),
            let peer = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
        {
            return peer
        }
        let peer = MCPeerID(displayName: ProcessInfo.processInfo.arguments.dropFirst().first ?? "?")
        let data = try? NSKeyedArchiver.archivedData(
            withRootObject: peer, requiringSecureCoding: true)
        UserDefaults.standard.set(data, forKey: key)
        UserDefaults.standard.synchronize()
        return peer
    }
}

extension DeviceCenter: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async { [self] in
            guard browser === self.browser, info?["room"] == room else { return }
            let device = device(for: peerID)
            setNearby(device, true)
            // Both sides do so; the framework makes one connection of it.
            device.invite(with: browser)
        }
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        DispatchQueue.main.async { [self] in
            guard browser === self.browser,
                let device = devices.first(where: { $0.peerID == peerID })
            else { return }
            setNearby(device, false)
            removeIfGone(device)
        }
    }
}

extension DeviceCenter: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async { [self] in
            guard advertiser === self.advertiser else { return invitationHandler(false, nil) }
            invitationHandler(true, device(for: peerID).connect())
        }
    }
}
