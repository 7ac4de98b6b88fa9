import Foundation
import MultipeerConnectivity

/// The list on the terminal: every device with its state, printed anew when one changes. Lives on
/// the main queue.
final class DeviceList: @unchecked Sendable {
    private let center = DeviceCenter.shared
    private var observers: [any NSObjectProtocol] = []

    init() {
        observe(.devicesDidChange) { [self] _ in show() }
        observe(.deviceDidChangeState) { [self] _ in show() }
        observe(.deviceDidReceiveMessage) { note in
            guard let device = note.object as? Device,
                let message = note.userInfo?["message"] as? Message
            else { return }
            print("\(device.name) writes: \(message.text)")
        }
    }

    /// A line that was typed: `NUMBER TEXT`, `+NUMBER` connects, `-NUMBER` disconnects.
    func handle(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        guard let number = words.first.flatMap({ Int($0) }),
            center.devices.indices.contains(abs(number) - 1)
        else { return show() }
        let device = center.devices[abs(number) - 1]
        if line.hasPrefix("-") {
            device.disconnect()
        } else if line.hasPrefix("+") {
            center.invite(device)
        } else if words.count == 2 {
            do {
                try device.send(Message(text: words[1]))
                print("You to \(device.name): \(words[1])")
            } catch {
                print("Not sent: \(error.localizedDescription)")
            }
        }
    }

    private func show() {
        print("-- \(center.devices.count) devices --")
        for (number, device) in center.devices.enumerated() {
            let state =
                switch device.state {
                case .connected: "connected"
                case .connecting: "connecting"
                default: "not connected"
                }
            let sight = device.isNearby ? "" : ", not in sight"
            print("  \(number + 1)  \(device.name): \(state)\(sight)")
        }
    }

    private func observe(
        _ name: Notification.Name, _ body: @escaping @Sendable (Notification) -> Void
    ) {
        observers.append(
            NotificationCenter.default.addObserver(
                forName: name, object: nil, queue: nil, using: body))
    }
}
