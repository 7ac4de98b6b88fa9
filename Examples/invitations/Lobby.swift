import ChatRoom
import Foundation
import MultipeerConnectivity

/// Who is nearby, who was invited, who invites: without the framework's screens. Lives on the main
/// queue.
final class Lobby: NSObject {
    private static let serviceType = "rv-invitations"

    private struct Neighbour {
        var peer: MCPeerID
        var mood: String
    }

    /// An invitation that waits for its answer, for as long as it takes.
    private struct Question {
        var peer: MCPeerID
        var answer: (Bool, MCSession?) -> Void
    }

    private let room: ChatRoom
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser
    private var neighbours: [Neighbour] = []
    private var questions: [Question] = []
    private var timeout: TimeInterval = 30

    init(name: String, mood: String, folder: URL) {
        let peer = MCPeerID(displayName: name)
        session = MCSession(peer: peer)
        room = ChatRoom(session: session, folder: folder)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: ["mood": mood], serviceType: Self.serviceType)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: Self.serviceType)
        super.init()
        advertiser.delegate = self
        browser.delegate = self
    }

    func start() {
        room.say("You are \(session.myPeerID.displayName).")
        room.say("/invite NAME [WORDS], /timeout SECONDS, /accept, /decline, /nearby")
        room.say(ChatRoom.help)
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    /// A line that was typed.
    func handle(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch (words.first, words.count) {
        case ("/invite", 2...): invite(words[1], saying: words.count > 2 ? words[2] : "")
        case ("/timeout", 2): timeout = TimeInterval(words[1]) ?? 30
        case ("/accept", 1): answer(true)
        case ("/decline", 1): answer(false)
        case ("/nearby", 1): list()
        case ("/quit", 1): quit()
        default: room.handle(line)
        }
    }

    private func list() {
        if neighbours.isEmpty { room.say("Nobody is nearby.") }
        for neighbour in neighbours {
            room.say("Nearby: \(neighbour.peer.displayName), \(neighbour.mood)")
        }
    }

    private func invite(_ name: String, saying words: String) {
        guard let peer = neighbours.first(where: { $0.peer.displayName == name })?.peer else {
            return room.say("Nobody of that name is nearby.")
        }
        browser.invitePeer(
            peer, to: session, withContext: Data(words.utf8), timeout: timeout)
        room.say("Invited \(name), who has \(Int(timeout)) s to answer")
    }

    private func answer(_ isAccepted: Bool) {
        guard !questions.isEmpty else { return room.say("Nobody has invited you.") }
        let question = questions.removeFirst()
        question.answer(isAccepted, isAccepted ? session : nil)
        room.say(
            "You \(isAccepted ? "accepted" : "declined") the invitation of "
                + question.peer.displayName)
    }

    private func quit() {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        room.handle("/quit")
    }
}

extension Lobby: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async { [self] in
            let mood = info?["mood"] ?? "in no mood"
            neighbours.removeAll { $0.peer == peerID }
            neighbours.append(Neighbour(peer: peerID, mood: mood))
            room.say("Found \(peerID.displayName), \(mood)")
        }
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        DispatchQueue.main.async { [self] in
            neighbours.removeAll { $0.peer == peerID }
            room.say("Lost \(peerID.displayName)")
        }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        DispatchQueue.main.async { [self] in
            room.say("Not browsing: \(error.localizedDescription)")
        }
    }
}

extension Lobby: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async { [self] in
            questions.append(Question(peer: peerID, answer: invitationHandler))
            let words = String(decoding: context ?? Data(), as: UTF8.self)
            room.say(
                "\(peerID.displayName) invites you\(words.isEmpty ? "" : ": “\(words)”")"
                    + " (/accept or /decline)")
        }
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        DispatchQueue.main.async { [self] in
            room.say("Not advertised: \(error.localizedDescription)")
        }
    }
}
