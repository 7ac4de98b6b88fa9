import NearbyCore

@testable import NearbyBluetooth

/// What the kernel does with our commands, for one machine: controllers with settings, instances
/// and a scan. Answers are given in the order of the commands.
struct FakeKernel {
    struct Controller {
        var information: ControllerInformation
        var instancesMax: UInt8 = 5
        var advertising: [UInt8: [UInt8]] = [:]
        var isScanning = false
        /// They survive switching it off.
        var monitors: [UInt16: [AdvertisementPattern]] = [:]
        var isBlocked = false
        /// Instances that the kernel has kept and the controller has lost.
        var dead: Set<UInt8> = []
    }

    var controllers: [UInt16: Controller] = [:]
    /// Refuses these with a status, each time.
    var refusals: [ManagementCommand.Code: ManagementStatus] = [:]
    /// Does not answer these at all.
    var silent: Set<ManagementCommand.Code> = []
    private(set) var commands: [ManagementCommand] = []

    static let both: ControllerSettings = [.powered, .connectable, .classic, .lowEnergy]

    mutating func plug(
        _ index: UInt16, address: UInt64 = 0x00aa_0100_0042,
        supported: ControllerSettings = FakeKernel.both, current: ControllerSettings = []
    ) -> ManagementEvent {
        controllers[index] = Controller(
            information: ControllerInformation(
                address: address, supported: supported, current: current))
        return ManagementEvent(index: index, body: .indexAdded)
    }

    mutating func unplug(_ index: UInt16) -> ManagementEvent {
        controllers[index] = nil
        return ManagementEvent(index: index, body: .indexRemoved)
    }

    /// What others do to a controller.
    mutating func change(
        _ index: UInt16, _ body: (inout ControllerSettings) -> Void
    ) -> ManagementEvent {
        guard var controller = controllers[index] else {
            return ManagementEvent(index: index, body: .indexRemoved)
        }
        body(&controller.information.current)
        if !controller.information.current.contains(.powered) { controller.lose() }
        controllers[index] = controller
        return ManagementEvent(
            index: index, body: .newSettings(controller.information.current))
    }

    mutating func answer(_ command: ManagementCommand, to index: UInt16?) -> ManagementEvent? {
        commands.append(command)
        guard !silent.contains(command.code) else { return nil }
        let event = { ManagementEvent(index: index, body: $0) }
        if let status = refusals[command.code] { return event(.failed(command.code, status)) }
        if command == .readIndexList {
            return event(.completed(.readIndexList, .indices(controllers.keys.sorted())))
        }
        guard let index, var controller = controllers[index] else {
            return event(.failed(command.code, .invalidIndex))
        }
        defer { controllers[index] = controller }
        do throws(Refusal) {
            return event(.completed(command.code, try controller.carryOut(command)))
        } catch {
            return event(.failed(command.code, error.status))
        }
    }

    struct Refusal: Error { var status: ManagementStatus }
}

extension FakeKernel.Controller {
    mutating func lose() {
        advertising = [:]
        isScanning = false
    }

    fileprivate mutating func carryOut(
        _ command: ManagementCommand
    ) throws(FakeKernel.Refusal) -> ManagementEvent.Reply {
        switch command {
        case .readIndexList: break
        case .readInformation: return .information(information)
        case .setPowered(let flag):
            if flag, isBlocked { throw .init(status: .rfkilled) }
            if !flag { dead = [] }
            return set(.powered, flag)
        case .setLowEnergy(let flag):
            if !flag, information.current.contains(.powered),
                !information.current.contains(.classic)
            {
                throw .init(status: .rejected)
            }
            return set(.lowEnergy, flag)
        case .setConnectable(let flag): return set(.connectable, flag)
        case .readAdvertisingFeatures: return .advertisingFeatures(instancesMax: instancesMax)
        case .addAdvertising(let instance, let data):
            try needPower()
            guard !dead.contains(instance) else { throw .init(status: .failed) }
            advertising[instance] = data
        case .removeAdvertising(let instance):
            guard advertising.removeValue(forKey: instance) != nil else {
                throw .init(status: .invalidParameters)
            }
        case .startDiscovery:
            try needPower()
            guard !isScanning else { throw .init(status: .busy) }
            isScanning = true
        case .stopDiscovery:
            guard isScanning else { throw .init(status: .rejected) }
            isScanning = false
        case .addMonitor(let patterns):
            guard let handle = (1...32 as ClosedRange<UInt16>).first(where: { monitors[$0] == nil })
            else { throw .init(status: .noResources) }
            monitors[handle] = patterns
            return .monitor(handle: handle)
        case .removeMonitor(0): monitors = [:]
        case .removeMonitor(let handle):
            guard monitors.removeValue(forKey: handle) != nil else {
                throw .init(status: .invalidIndex)
            }
        }
        return .nothing
    }

    private func needPower() throws(FakeKernel.Refusal) {
        guard information.current.isSuperset(of: [.powered, .lowEnergy]) else {
            throw .init(status: .notPowered)
        }
    }

    private mutating func set(
        _ setting: ControllerSettings, _ flag: Bool
    ) -> ManagementEvent.Reply {
        if flag {
            information.current.insert(setting)
        } else {
            information.current.remove(setting)
        }
        if !information.current.contains(.powered) { lose() }
        return .settings(information.current)
    }
}

/// A machine at its kernel, on a clock that is moved by hand.
struct AdapterWorld {
    var kernel = FakeKernel()
    var machine: AdapterMachine
    var now = Instant.zero
    var outputs: [AdapterMachine.Output] = []
    /// Opens a listener whenever the adapter is up, as the shell does.
    var listens = true

    init(_ selection: AdapterSelection = .any, acceptsClassic: Bool = false, seed: UInt64 = 1) {
        machine = AdapterMachine(
            selection: selection, networkTag: 0x0102_0304, peerPrefix: 0xa1b2_c3d4_e5f6,
            acceptsClassic: acceptsClassic, seed: seed)
    }

    mutating func handle(_ input: AdapterMachine.Input) {
        var inputs = [input]
        while !inputs.isEmpty {
            for output in machine.handle(inputs.removeFirst(), now: now) {
                outputs.append(output)
                switch output {
                case .send(let command, let index):
                    if let event = kernel.answer(command, to: index) {
                        inputs.append(.event(event))
                    }
                case .up: if listens { inputs.append(.listening(psm: 0x80)) }
                default: break
                }
            }
        }
    }

    /// Lets time pass, deadline by deadline.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            handle(.deadlineReached)
        }
        now = end
    }

    var diagnostics: [AdapterMachine.Diagnostic] {
        outputs.compactMap { if case .diagnostic(let diagnostic) = $0 { diagnostic } else { nil } }
    }

    /// `up` and `down`, in order.
    var ups: [Bool] {
        outputs.compactMap {
            switch $0 {
            case .up: true
            case .down: false
            default: nil
            }
        }
    }
}
