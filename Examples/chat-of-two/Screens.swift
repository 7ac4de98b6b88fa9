import Foundation
import MultipeerConnectivity

/// The two screens: the list of who is there, and the chat.
final class Screens: MPCManagerDelegate {
    private enum Screen {
        case list
        /// Somebody asks.
        case question(MCPeerID)
        case chat(MCPeerID)
    }

    private static let endOfChat = "_end_chat_"

    private let manager: MPCManager
    private var screen = Screen.list

    init(manager: MPCManager) {
        self.manager = manager
        manager.delegate = self
        manager.setVisible(true)
        manager.startLooking()
        showList()
    }

    /// A line that was typed.
    func handle(_ line: String) {
        switch screen {
        case .list: choose(line)
        case .question(let peer): answer(line, to: peer)
        case .chat(let peer): write(line, to: peer)
        }
    }

    func foundPeersChanged() {
        if case .list = screen { showList() }
    }

    func invitationWasReceived(from peer: MCPeerID) {
        screen = .question(peer)
        print("\(peer.displayName) wants to chat with you. Accept? (yes or no)")
    }

    func connected(with peer: MCPeerID) {
        screen = .chat(peer)
        print("== Chat with \(peer.displayName): write, or “end” ==")
    }

    func received(_ message: String, from peer: MCPeerID) {
        guard message == Self.endOfChat else {
            return print("\(peer.displayName) says: \(message)")
        }
        print("\(peer.displayName) ended this chat.")
        leaveChat()
    }

    /// A peer that vanished, or did not accept.
    func disconnected(from peer: MCPeerID) {
        switch screen {
        case .chat(peer):
            print("The connection with \(peer.displayName) is gone.")
            leaveChat()
        case .question(peer):
            print("\(peer.displayName) does not wait any more.")
            manager.answerInvitation(false)
            leaveChat()
        case .list: print("\(peer.displayName) is not connected.")
        default: break
        }
    }

    private func showList() {
        print("== Nearby; you are \(manager.isVisible ? "visible" : "invisible") ==")
        for (number, peer) in manager.foundPeers.enumerated() {
            print("  \(number + 1)  \(peer.displayName)")
        }
        if manager.foundPeers.isEmpty { print("  nobody") }
        print("A number invites, v makes you \(manager.isVisible ? "invisible" : "visible").")
    }

    private func choose(_ line: String) {
        if line == "v" {
            manager.setVisible(!manager.isVisible)
            showList()
        } else if let number = Int(line), manager.foundPeers.indices.contains(number - 1) {
            let peer = manager.foundPeers[number - 1]
            manager.invite(peer)
            print("\(peer.displayName) is asked …")
        }
    }

    private func answer(_ line: String, to peer: MCPeerID) {
        guard ["yes", "no"].contains(line) else { return print("yes or no?") }
        screen = .list
        manager.answerInvitation(line == "yes")
        if line == "no" { showList() }
    }

    private func write(_ line: String, to peer: MCPeerID) {
        guard line != "end" else {
            if manager.send(Self.endOfChat, to: peer) { print("You ended this chat.") }
            return leaveChat()
        }
        if manager.send(line, to: peer) { print("I say: \(line)") }
    }

    private func leaveChat() {
        screen = .list
        manager.session.disconnect()
        showList()
    }
}
