import Configuration
import DurableFiles
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux

extension Settings {
    /// Who this node is, with the certificates that `trust: authority` asks for; its key is made if
    /// there is none.
    func makeIdentity(_ role: Role) throws(StartError) -> Identity {
        guard case .authority(let files) = trust else { return try makeKey(nil) }
        let identity = try makeKey(files.key)
        do throws(AuthoritySettings.Fault) {
            let authority = try files.load(for: identity, role)
            // What is no more than suspicious is told by `MachineCheck`.
            if let fault = files.fault(
                of: authority.certification, WallClock.read(), isStarting: true), fault.isError
            {
                throw fault
            }
            return identity.certified(by: authority)
        } catch {
            let (line, column) = (error.mark.line, error.mark.column)
            throw StartError("\(file):\(line):\(column): trust: \(error.text)", .configuration)
        }
    }

    private func makeKey(_ path: String?) throws(StartError) -> Identity {
        guard !keepsNothing || !trust.isByKey else {
            throw StartError(
                "\(file): looking in takes a key that the others let in, and that of the node is "
                    + "in use: give `rivulet collect --config` a configuration of its own, with "
                    + "`role: viewer` and another `state`", .configuration)
        }
        do throws(IdentityError) {
            if let path { return try Identity.load(key: path) }
            return keepsNothing
                ? .makeEphemeral()
                : try Identity.load(
                    stateDirectory: state, rule: trust.isByKey ? .refuse : .makeNew)
        } catch {
            throw StartError(error)
        }
    }

    /// The identity that is there already.
    package func storedIdentity() throws(StartError) -> Identity? {
        do throws(IdentityError) {
            if case .authority(let files) = trust, let path = files.key {
                return try Identity.load(key: path)
            }
            return try Identity.stored(stateDirectory: state)
        } catch {
            throw StartError(error)
        }
    }
}

extension AuthoritySettings {
    /// What is wrong with the files, told where they are named.
    package struct Fault: Error {
        package let mark: Mark
        package let text: String
        /// Otherwise it may turn out right.
        package var isError = true
    }

    /// Reads the files, for the key of this node.
    ///
    /// - Parameter content: what will be in `certificate`.
    package func load(
        for identity: Identity, _ role: Role, content: [UInt8]? = nil
    ) throws(Fault) -> Authority {
        let authority: Authority
        do throws(AuthorityError) {
            authority = try Authority.load(
                anchors: anchors, certificate: certificate, content: content, for: identity)
        } catch {
            throw Fault(mark: error.path == anchors ? mark : certificateMark, text: "\(error)")
        }
        guard authority.certification.permits(role) else {
            throw Fault(
                mark: certificateMark,
                text: "\(certificate): it does not name the role \(role), so no other node would "
                    + "let this one in: have it signed with the alternative name "
                    + "URI:\(Certification.uri(of: role))")
        }
        return authority
    }

    /// What is wrong with the dates of our own certificates. While a node starts, its clock may be
    /// wrong.
    package func fault(
        of certification: Certification, _ clock: WallClock.Reading, isStarting: Bool
    ) -> Fault? {
        let now = clock.unixNanoseconds / 1_000_000_000
        let isRight = clock.rank == .synchronised
        func fault(_ text: String, isError: Bool) -> Fault {
            Fault(mark: certificateMark, text: "\(certificate): \(text)", isError: isError)
        }
        let (begin, end) = (certification.notBefore, certification.notAfter)
        guard now <= end else {
            return fault(
                "it has expired: it was valid until \(Self.day(end)); have it signed anew",
                isError: isRight || !isStarting)
        }
        guard now >= begin else {
            return fault(
                "it is not valid before \(Self.day(begin)); by the clock here it is "
                    + Self.day(now), isError: isRight)
        }
        let rest = end.subtractingSaturating(now)
        guard rest >= min(Self.notice, end.subtractingSaturating(begin) / 10) else {
            return fault("it expires on \(Self.day(end)); have it signed anew", isError: false)
        }
        return nil
    }

    /// Seconds before the end from which on it is told.
    private static let notice: Int64 = 30 * 86_400

    /// The day of a time in seconds since 1970, in UTC: `2026-11-23`.
    package static func day(_ unixTime: Int64) -> String {
        var time = Int(unixTime)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(unixTime)" }
        func digits(_ value: Int32) -> String { (value < 10 ? "0" : "") + "\(value)" }
        return "\(Int(parts.tm_year) + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
    }
}
