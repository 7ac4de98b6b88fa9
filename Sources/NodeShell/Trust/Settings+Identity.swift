import Configuration
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux

extension Settings {
    /// Who this node is, with the certificates that `trust: authority` asks for; its key is made if
    /// there is none.
    func makeIdentity(_ role: Role, _ log: StandardErrorLog) throws(StartError) -> NodeIdentity {
        guard !keepsNothing || !trust.isByKey else {
            throw StartError(
                "\(file): looking in takes a key of its own, known to the others: write a "
                    + "configuration with `role: viewer` and another `state`", .configuration)
        }
        let identity: NodeIdentity
        do throws(IdentityError) {
            if let key = trust.key {
                identity = try NodeIdentity.load(key: key)
            } else if keepsNothing {
                identity = .makeEphemeral()
            } else {
                identity = try NodeIdentity.load(
                    stateDirectory: state, rule: trust.isByKey ? .refuse : .makeNew)
            }
        } catch {
            throw StartError(error)
        }
        guard trust.kind == .authority else { return identity }
        let authority = try authority(for: identity, role)
        if let warning = dateWarning(on: authority, isAsked: false) {
            // A clock that may be wrong prevents no start.
            guard !warning.isCertain else { throw StartError(warning.text, .configuration) }
            log.write(.warning, warning.text)
        }
        return identity.certified(by: authority)
    }

    /// Reads the files of `trust: authority`, for the key of this node.
    ///
    /// - Parameter content: what will be in the file of the certificate.
    package func authority(
        for identity: NodeIdentity, _ role: Role, content: [UInt8]? = nil
    ) throws(StartError) -> Authority {
        let authority: Authority
        do throws(AuthorityError) {
            authority = try Authority.load(
                anchors: trust.authority, certificate: trust.certificate, content: content,
                for: identity)
        } catch {
            throw StartError(ofTrust("\(error)"), .configuration)
        }
        guard !authority.certification.permits(role) else { return authority }
        throw StartError(
            ofTrust(
                "\(trust.certificate) does not name the role \(role), so that others would refuse "
                    + "this node: have it signed with URI:\(Certification.uri(of: role))"),
            .configuration)
    }

    /// A line for people about `trust`, with its place.
    package func ofTrust(_ text: String) -> String {
        "\(file):\(trust.mark.line):\(trust.mark.column): trust: \(text)"
    }

    /// What is wrong with the dates of our own certificates, and whether our clock is good enough
    /// to be certain of it.
    ///
    /// - Parameter isAsked: a person asks; a clock that is wrong is late as a rule.
    package func dateWarning(
        on authority: Authority, isAsked: Bool = true
    ) -> (text: String, isCertain: Bool)? {
        let clock = WallClock.read()
        let now = clock.unixNanoseconds / 1_000_000_000
        let certification = authority.certification
        let isValid = certification.isValid(at: now)
        guard !isValid || !certification.isValid(at: now + Self.diagnosticSeconds) else {
            return nil
        }
        let span = "\(day(certification.notBefore)) to \(day(certification.notAfter))"
        return (
            ofTrust("\(trust.certificate) is valid from \(span); have it signed anew in time"),
            !isValid
                && (clock.rank == .synchronised || isAsked && now > certification.notAfter)
        )
    }

    /// Before the end of a certificate it is told of.
    private static let diagnosticSeconds: Int64 = 30 * 86_400

    /// The day of a time in seconds since 1970, in UTC: `2026-11-23`.
    package func day(_ unixTime: Int64) -> String {
        var time = Int(unixTime)
        var parts = tm()
        var text = [CChar](repeating: 0, count: 32)
        guard gmtime_r(&time, &parts) != nil, strftime(&text, text.count, "%F", &parts) > 0 else {
            return "\(unixTime)"
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}
