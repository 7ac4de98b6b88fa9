import NearbyCore

extension Limits {
    /// Controllers of one machine that are looked at; others are ignored.
    static let bluetoothControllersMax = 16
}

/// The controllers of this machine, as far as they are known, and the one in use.
struct ControllerTable: Sendable {
    /// The controller in use: it is in the table, and was read.
    struct InUse: Sendable {
        let adapter: Adapter
        /// What was set when it was chosen.
        let found: ControllerSettings
        /// It would not be made connectable over BR/EDR.
        var refusesConnectable = false
    }

    private struct Controller: Sendable {
        let index: UInt16
        /// Nil until it is read.
        var information: ControllerInformation?
    }

    /// By index; nil: not asked yet.
    private var controllers: [Controller]?
    private(set) var inUse: InUse?

    mutating func list(_ indices: [UInt16]) {
        controllers = []
        for index in indices { insert(index) }
    }

    mutating func insert(_ index: UInt16) {
        guard var all = controllers, all.count < Limits.bluetoothControllersMax,
            !all.contains(where: { $0.index == index })
        else { return }
        let place = all.firstIndex { $0.index > index } ?? all.count
        all.insert(Controller(index: index), at: place)
        controllers = all
    }

    /// - Returns: whether it was in use.
    mutating func remove(_ index: UInt16) -> Bool {
        controllers?.removeAll { $0.index == index }
        guard inUse?.adapter.index == index else { return false }
        inUse = nil
        return true
    }

    mutating func record(_ information: ControllerInformation, of index: UInt16) {
        if let place = place(of: index) { controllers?[place].information = information }
    }

    /// - Returns: what was set before; nil if it was not read yet.
    mutating func apply(
        _ settings: ControllerSettings, to index: UInt16
    ) -> ControllerSettings? {
        guard let place = place(of: index), let before = controllers?[place].information?.current
        else { return nil }
        controllers?[place].information?.current = settings
        return before
    }

    mutating func refuseConnectable() { inUse?.refusesConnectable = true }

    /// Chooses the controller that fits best; the one in use is kept while it is there.
    mutating func choose(_ selection: AdapterSelection, acceptsClassic: Bool) {
        guard inUse == nil, let controllers else { return }
        for controller in controllers {
            let index = controller.index
            // Without an address, a controller would need a static one from somebody.
            guard let information = controller.information, information.address != 0,
                information.supported.contains(.lowEnergy)
                    || acceptsClassic && information.supported.contains(.classic)
            else { continue }
            switch selection {
            case .any: break
            case .index(let number): if number != index { continue }
            case .address(let address): if address != information.address { continue }
            }
            let address = BluetoothAddress(value: information.address, kind: .lowEnergyPublic)
            inUse = InUse(
                adapter: Adapter(index: index, address: address), found: information.current)
            return
        }
    }

    var isListed: Bool { controllers != nil }

    /// One that was not read yet.
    var unread: UInt16? { controllers?.first { $0.information == nil }?.index }

    /// Of the controller in use.
    var information: ControllerInformation? {
        guard let inUse, let place = place(of: inUse.adapter.index) else { return nil }
        return controllers?[place].information
    }

    private func place(of index: UInt16) -> Int? {
        controllers?.firstIndex { $0.index == index }
    }
}
