import Foundation
import MultipeerConnectivity

/// A file on its way, in either direction.
struct Transfer {
    let title: String
    let progress: Progress
    /// The last quarter that was told.
    var quarter = -1

    init(_ title: String, _ progress: Progress) {
        self.title = title
        self.progress = progress
    }
}

/// Files.
extension ChatRoom {
    /// To everybody. What is at a web address is fetched first, by the session.
    func sendFile(_ url: URL?) {
        guard let url else { return say("That is no address.") }
        let name = url.lastPathComponent
        for peer in session.connectedPeers {
            let title = "\(name) to \(peer.displayName)"
            let progress = session.sendResource(at: url, withName: name, toPeer: peer) { error in
                DispatchQueue.main.async { [self] in
                    finish(title, error.map { .failure($0) } ?? .success("is there"))
                }
            }
            if let progress { begin(Transfer(title, progress)) }
        }
    }

    func begin(_ transfer: Transfer) {
        say("\(transfer.title): begins")
        transfers.append(transfer)
    }

    func finish(_ title: String, _ outcome: Result<String, any Error>) {
        transfers.removeAll { $0.title == title }
        switch outcome {
        case .success(let sentence): say("\(title) \(sentence)")
        case .failure(let error): say("\(title) failed: \(error.localizedDescription)")
        }
    }

    func cancelTransfers() {
        if transfers.isEmpty { say("No file is on its way.") }
        for transfer in transfers { transfer.progress.cancel() }
    }

    /// Says when another quarter is there.
    func tellProgress() {
        for index in transfers.indices {
            let quarter = Int(transfers[index].progress.fractionCompleted * 4)
            guard quarter > transfers[index].quarter, (1...3).contains(quarter) else { continue }
            transfers[index].quarter = quarter
            say("\(transfers[index].title): \(quarter * 25) %")
        }
    }

    /// Moves a file that has arrived to where it is kept. On the session's queue.
    func keep(_ file: URL?, named name: String, error: (any Error)?) throws -> String {
        if let error { throw error }
        guard let file else { throw CocoaError(.fileNoSuchFile) }
        // Of a name that comes from elsewhere, no more than the last part.
        let place = folder.appendingPathComponent(URL(fileURLWithPath: name).lastPathComponent)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if FileManager.default.fileExists(atPath: place.path) {
            try FileManager.default.removeItem(at: place)
        }
        try FileManager.default.moveItem(at: file, to: place)
        return "is kept as \(place.path)"
    }
}
