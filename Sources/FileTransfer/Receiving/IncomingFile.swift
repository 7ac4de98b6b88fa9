import Nearby

/// One file that comes.
struct IncomingFile: Sendable {
    enum Outcome: Sendable {
        case stored
        case brokenOff
        case failed(TransferFault)
    }

    private let resource: IncomingResource
    private let folder: ReceivingFolder
    private let overwrites: Bool
    let name: StoredName

    init(_ resource: IncomingResource, in folder: ReceivingFolder, _ order: ReceiveOrder) {
        self.resource = resource
        self.folder = folder
        overwrites = order.overwrites
        name = StoredName(offered: resource.name)
    }

    var sender: Peer { resource.from }

    var current: ActiveFile {
        let progress = resource.current
        return ActiveFile(
            name: name.description, sender: sender.displayName, completed: progress.completed,
            total: progress.total)
    }

    /// - Parameter say: to the sender.
    func run(
        say: (Remark) async -> Void, tell: (ReceiveNews) -> Void
    ) async -> Outcome {
        let (there, total) = (resource.resumedAt, resource.byteCount)
        if let free = folder.freeByteCount, free < total - there {
            let text =
                "there is no room for \(name): \(ByteText.text(total - there)) are needed, "
                + "\(ByteText.text(free)) are free"
            let outcome = await refuse(TransferFault(.cannotCreate, text), say, tell)
            // What is there stays for when there is room, and nothing more comes.
            resource.cancel(keepingPart: true)
            return outcome
        }
        tell(.began(name: name.description, from: sender, byteCount: total, resumedAt: there))
        do throws(NearbyError) {
            let file = try await resource.file()
            return await store(file, say, tell)
        } catch {
            return await ended(error, say, tell)
        }
    }

    private func store(
        _ file: String, _ say: (Remark) async -> Void, _ tell: (ReceiveNews) -> Void
    ) async -> Outcome {
        do throws(TransferFault) {
            let stored = try folder.store(file, as: name, overwrites: overwrites)
            await say(.stored(stored.description))
            tell(
                .stored(
                    path: "\(folder.path)/\(stored)", from: sender, byteCount: resource.byteCount))
            return .stored
        } catch {
            return await refuse(error, say, tell)
        }
    }

    private func ended(
        _ error: NearbyError, _ say: (Remark) async -> Void, _ tell: (ReceiveNews) -> Void
    ) async -> Outcome {
        switch error.end {
        case .writeFailed:
            let free = folder.freeByteCount.map { ": \(ByteText.text($0)) are free" } ?? ""
            let text = "\(name) cannot be written, the disk may be full\(free)"
            return await refuse(TransferFault(.cannotCreate, text), say, tell)
        case .readFailed, .sizeMismatch, .digestMismatch, .violation, .cancelled, .refused, .full:
            let text = ReadableText.replacing(error.description, with: "?")
            tell(.failed(name: name.description, from: sender, text))
            return .brokenOff
        case .unknownGroup, .restarted, .abandoned, nil:
            let progress = resource.current
            tell(
                .brokenOff(
                    name: name.description, from: sender, completed: progress.completed,
                    of: progress.total))
            return .brokenOff
        }
    }

    private func refuse(
        _ fault: TransferFault, _ say: (Remark) async -> Void, _ tell: (ReceiveNews) -> Void
    ) async -> Outcome {
        await say(.refused(fault.description))
        tell(.failed(name: name.description, from: sender, fault.description))
        return .failed(fault)
    }
}
