import Foundation
import MultipeerConnectivity

/// What people do in a session once they are connected: write, dictate over a stream, send files.
/// Shared by the group chats, which differ in how people find each other.
///
/// Everything but what is said otherwise happens on the main queue.
public final class ChatRoom: NSObject {
    let session: MCSession
    /// Where files that arrive are kept.
    let folder: URL
    /// What is not shown yet, while a screen has the terminal.
    private var pending: [String]?
    private var dictation: Dictation?
    private var listeners: [InputStream: Listener] = [:]
    var transfers: [Transfer] = []
    private var clock: Timer?

    public init(session: MCSession, folder: URL) {
        self.session = session
        self.folder = folder
        super.init()
        session.delegate = self
        session.failureHandler = { [weak self] peer, error in
            guard let self else { return }
            DispatchQueue.main.async {
                self.say("\(peer.displayName): \(error.localizedDescription)")
            }
        }
        clock = Timer.scheduledTimer(withTimeInterval: 0.2, repeats: true) { [weak self] _ in
            self?.tellProgress()
        }
    }

    public static let help = """
        Write to all, or: /who, /stream NAME … /end, /file PATH, /web ADDRESS, /cancel, /quit
        """

    public func say(_ line: String) {
        guard pending == nil else {
            pending?.append(line)
            return
        }
        print(line)
    }

    /// While another screen has the terminal, lines wait.
    public func hide() { pending = pending ?? [] }

    public func show() {
        let lines = pending ?? []
        pending = nil
        for line in lines { say(line) }
    }

    /// A line that was typed.
    public func handle(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        guard let command = words.first else { return }
        let rest = words.count > 1 ? words[1] : ""
        switch command {
        case "/who": say("Here: \(names.isEmpty ? "nobody but you" : names)")
        case "/stream": beginDictation(named: rest.isEmpty ? "words" : rest)
        case "/end": endDictation()
        case "/file": sendFile(URL(fileURLWithPath: rest))
        case "/web": sendFile(URL(string: rest))
        case "/cancel": cancelTransfers()
        case "/quit": leave()
        case _ where command.hasPrefix("/"): say(Self.help)
        default: send(line)
        }
    }

    private var names: String {
        session.connectedPeers.map(\.displayName).sorted().joined(separator: ", ")
    }

    private func send(_ line: String) {
        guard dictation == nil else {
            dictation?.write(line)
            return
        }
        do {
            try session.send(
                Data(line.utf8), toPeers: session.connectedPeers, with: .reliable)
            say("You: \(line)")
        } catch {
            say("Not sent: \(error.localizedDescription)")
        }
    }

    private func leave() {
        session.disconnect()
        // The goodbye is on its way.
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) { exit(0) }
    }
}

/// Streams.
extension ChatRoom {
    private func beginDictation(named name: String) {
        do {
            dictation = Dictation(
                try session.connectedPeers.map { peer in
                    try session.startStream(withName: name, toPeer: peer)
                })
            say("What you write goes out over a stream named “\(name)”, until /end")
        } catch {
            say("No stream: \(error.localizedDescription)")
        }
    }

    private func endDictation() {
        dictation?.end()
        dictation = nil
    }

    private func listen(to stream: InputStream, named name: String, from peer: MCPeerID) {
        say("\(peer.displayName) begins a stream named “\(name)”")
        listeners[stream] = Listener(stream) { [weak self] line in
            guard let self else { return }
            if let line { return say("\(peer.displayName), \(name): \(line)") }
            say("\(peer.displayName)’s stream “\(name)” has ended")
            listeners[stream] = nil
        }
    }
}

/// Called on the session's queue.
extension ChatRoom: MCSessionDelegate {
    public func session(
        _ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState
    ) {
        DispatchQueue.main.async { [self] in
            switch state {
            case .connected: say("\(peerID.displayName) is here")
            case .connecting: say("\(peerID.displayName) is being connected …")
            case .notConnected: say("\(peerID.displayName) is not connected")
            }
        }
    }

    public func session(
        _ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID
    ) {
        DispatchQueue.main.async { [self] in
            say("\(peerID.displayName): \(String(decoding: data, as: UTF8.self))")
        }
    }

    public func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        DispatchQueue.main.async { [self] in
            listen(to: stream, named: streamName, from: peerID)
        }
    }

    public func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        DispatchQueue.main.async { [self] in
            begin(Transfer("\(resourceName) from \(peerID.displayName)", progress))
        }
    }

    public func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        // Here, as the file is gone when this returns.
        let outcome = Result { try keep(localURL, named: resourceName, error: error) }
        DispatchQueue.main.async { [self] in
            finish("\(resourceName) from \(peerID.displayName)", outcome)
        }
    }
}
