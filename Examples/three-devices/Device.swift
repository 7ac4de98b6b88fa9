import Foundation
import MultipeerConnectivity

/// One of three devices. All advertise; the one in the middle also browses, and invites whom it
/// finds. The session does the rest: its two neighbours, which share no network, are connected with
/// each other as well.
class Device: NSObject {
    static let serviceType = "three-devices"

    let peerID: MCPeerID
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser

    init(name: String) {
        peerID = MCPeerID(displayName: name)
        session = MCSession(peer: peerID)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peerID, discoveryInfo: nil, serviceType: Self.serviceType)
        browser = MCNearbyServiceBrowser(peer: peerID, serviceType: Self.serviceType)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    func start(isInTheMiddle: Bool) {
        advertiser.startAdvertisingPeer()
        if isInTheMiddle { browser.startBrowsingForPeers() }
    }

    func stop() {
        browser.stopBrowsingForPeers()
        advertiser.stopAdvertisingPeer()
        session.disconnect()
    }

    // MARK: What is typed

    func typed(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "who": tellWhoIsConnected()
        case "stream" where words.count == 3: stream(words[2], to: words[1])
        case nil: break
        default: say(line)
        }
    }

    private func tellWhoIsConnected() {
        let names = session.connectedPeers.map(\.displayName).sorted()
        print("connected: \(names.isEmpty ? "nobody" : names.joined(separator: ", "))")
    }

    private func say(_ text: String) {
        do {
            try session.send(
                Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
        } catch {
            print("not sent: \(error.localizedDescription)")
        }
    }

    /// Sends the words one after the other over a stream to one of the others.
    private func stream(_ text: String, to name: String) {
        guard let peer = session.connectedPeers.first(where: { $0.displayName == name }) else {
            return print("\(name) is not connected")
        }
        do {
            let output = try session.startStream(withName: "words", toPeer: peer)
            output.open()
            for word in text.split(separator: " ") {
                var bytes = Array(word.utf8) + [UInt8(ascii: "\n")]
                while !bytes.isEmpty {
                    let count = output.write(bytes, maxLength: bytes.count)
                    guard count > 0 else { return print("the stream to \(name) broke off") }
                    bytes.removeFirst(count)
                }
            }
            output.close()
        } catch {
            print("no stream: \(error.localizedDescription)")
        }
    }
}

// MARK: - Discovery

extension Device: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        print("\(peerID.displayName) invites")
        invitationHandler(true, session)
    }
}

extension Device: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        print("found \(peerID.displayName)")
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        print("lost \(peerID.displayName)")
    }
}

// MARK: - Session

extension Device: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .notConnected: print("\(peerID.displayName): not connected")
        case .connecting: print("\(peerID.displayName): connecting")
        case .connected: print("\(peerID.displayName): connected")
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        print("\(peerID.displayName) says: \(String(decoding: data, as: UTF8.self))")
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        print("\(peerID.displayName) opens the stream \"\(streamName)\"")
        // Reading waits, so it has a thread of its own.
        nonisolated(unsafe) let stream = stream
        Thread.detachNewThread {
            var text = Data()
            var buffer = [UInt8](repeating: 0, count: 1_024)
            stream.open()
            while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
                text.append(contentsOf: buffer[..<count])
            }
            stream.close()
            let words = String(decoding: text, as: UTF8.self).split(separator: "\n")
            print("\(peerID.displayName) streamed: \(words.joined(separator: " "))")
        }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
}
