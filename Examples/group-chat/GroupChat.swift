import ChatRoom
import Foundation
import MultipeerConnectivity

/// A group chat whose members find each other with the framework's own screens: the assistant asks
/// who is invited, the browser lists who is nearby.
final class GroupChat: NSObject {
    private static let serviceType = "rv-group-chat"

    private let room: ChatRoom
    private let session: MCSession
    private let assistant: MCAdvertiserAssistant
    private let keyboard = Keyboard()

    init(name: String, folder: URL) {
        session = MCSession(
            peer: MCPeerID(displayName: name), securityIdentity: nil,
            encryptionPreference: .required)
        room = ChatRoom(session: session, folder: folder)
        assistant = MCAdvertiserAssistant(
            serviceType: Self.serviceType, discoveryInfo: nil, session: session)
        super.init()
        assistant.delegate = self
    }

    func start() {
        assistant.start()
        room.say("You are \(session.myPeerID.displayName), and can be invited.")
        room.say("/browse shows who is nearby. \(ChatRoom.help)")
        keyboard.begin { [self] line in
            switch line {
            case "/browse"?: browse()
            case let line?: room.handle(line)
            case nil: room.handle("/quit")
            }
        }
    }

    private func browse() {
        let screen = MCBrowserViewController(serviceType: Self.serviceType, session: session)
        screen.delegate = self
        keyboard.hold()
        room.hide()
        screen.present()
        shown = screen
    }

    /// The screen holds on to nobody.
    private var shown: MCBrowserViewController?

    private func endBrowsing() {
        DispatchQueue.main.async { [self] in
            shown = nil
            room.show()
            keyboard.release()
        }
    }
}

extension GroupChat: MCBrowserViewControllerDelegate {
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        endBrowsing()
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        endBrowsing()
    }
}

/// The question is asked in the terminal: what is typed is its answer.
extension GroupChat: MCAdvertiserAssistantDelegate {
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        keyboard.hold()
    }

    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        keyboard.release()
    }
}
