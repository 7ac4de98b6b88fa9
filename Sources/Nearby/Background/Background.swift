import CLinux
import Glibc
import NearbyCore
import NearbyGroups
import NearbyLinux
import Synchronization

/// The one thread behind all peers of the process, and the way to it. It lives while something is
/// started or a session has members, and ends with all its descriptors closed.
final class Background: Sendable {
    static let shared = Background()

    /// What sessions of one own peer have in common.
    private struct Shared {
        let room = Room()
        var preferences: [SessionNumber: EncryptionPreference] = [:]
    }

    private struct State {
        /// In order; the rooms bound what waits here.
        var commands: [Command] = []
        /// While the thread runs.
        var bell: FileDescriptor?
        var lastSession: UInt32 = 0
        var shared: [PeerID: Shared] = [:]
        /// The process ends: the thread says goodbye and takes no more.
        var isEnding = false
        var isExitWatched = false
    }

    private let state = Mutex(State())

    private init() {}

    // MARK: Sessions

    func register(
        _ peer: PeerID, _ preference: EncryptionPreference
    ) -> (SessionNumber, Room) {
        state.withLock { state in
            state.lastSession &+= 1
            let number = SessionNumber(value: state.lastSession)
            var shared = state.shared[peer] ?? Shared()
            shared.preferences[number] = preference
            state.shared[peer] = shared
            return (number, shared.room)
        }
    }

    func unregister(_ number: SessionNumber, of peer: PeerID) {
        state.withLock { state in
            state.shared[peer]?.preferences[number] = nil
            if state.shared[peer]?.preferences.isEmpty == true { state.shared[peer] = nil }
        }
    }

    /// What a peer's node says of encryption: as its sessions if they agree, otherwise optional.
    func preference(of peer: PeerID) -> EncryptionPreference {
        let all = state.withLock { Set($0.shared[peer]?.preferences.values.map { $0 } ?? []) }
        return all.count == 1 ? all.first ?? .optional : .optional
    }

    func room(of peer: PeerID) -> Room? { state.withLock { $0.shared[peer]?.room } }

    // MARK: The way to the thread

    var isRunning: Bool { state.withLock { $0.bell != nil } }

    /// Starts the thread if it does not run.
    ///
    /// - Throws: `.unavailable` if the process is out of threads or descriptors.
    func post(_ command: Command) throws(NearbyError) {
        let error = state.withLock { state -> NearbyError? in
            guard !state.isEnding else {
                return NearbyError(.unavailable, "the process is ending")
            }
            if state.bell == nil {
                do throws(SystemError) {
                    state.bell = try startThread()
                } catch {
                    return NearbyError(.unavailable, "nothing can be started: \(error)")
                }
                if !state.isExitWatched {
                    state.isExitWatched = true
                    atexit { Background.shared.sayGoodbye() }
                }
            }
            state.commands.append(command)
            state.bell.map(Self.ring)
            return nil
        }
        if let error {
            command.fail(error)
            throw error
        }
    }

    /// For what ends something: there is nothing to end where no thread runs.
    func postIfRunning(_ command: Command) {
        state.withLock { state in
            guard let bell = state.bell, !state.isEnding else { return }
            state.commands.append(command)
            Self.ring(bell)
        }
    }

    private static func ring(_ bell: FileDescriptor) {
        var one: UInt64 = 1
        write(bell.raw, &one, 8)
    }

    private func startThread() throws(SystemError) -> FileDescriptor {
        let bell = try FileDescriptor(
            taking: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), from: "eventfd")
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let code = pthread_create(
            &thread, &attributes,
            { bell in
                if let bell {
                    Background.shared.serve(
                        Unmanaged<FileDescriptor>.fromOpaque(bell).takeRetainedValue())
                }
                return nil
            }, Unmanaged.passRetained(bell).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(bell).release()
            throw SystemError(call: "pthread_create", code: code)
        }
        return bell
    }

    // MARK: The thread

    private func serve(_ bell: FileDescriptor) {
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        do throws(SystemError) {
            try Stations(self, bell: bell).serve()
        } catch {
            let failure = NearbyError(.unavailable, "the background thread has ended: \(error)")
            for command in end() { command.fail(failure) }
        }
    }

    /// What waits, in order.
    func takeCommands(_ bell: FileDescriptor) -> [Command] {
        var rings: UInt64 = 0
        read(bell.raw, &rings, 8)
        return state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// For the thread that has nothing more to do.
    ///
    /// - Returns: false if there is something after all.
    func endIfIdle() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.bell = nil
            return true
        }
    }

    private func end() -> [Command] {
        state.withLock { state in
            defer { (state.commands, state.bell) = ([], nil) }
            return state.commands
        }
    }

    // MARK: The end of the process

    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// The peers hear of it, rather than miss us.
    private func sayGoodbye() {
        state.withLock { state in
            state.isEnding = true
            state.bell.map(Self.ring)
        }
        for _ in 0..<100 where state.withLock({ $0.bell != nil }) { usleep(3_000) }
    }
}
