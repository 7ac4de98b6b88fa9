import Boards
import Configuration
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux

extension MachineCheck {
    /// What is wrong with the files of `trust: authority`: as those of secrets, they are looked at
    /// even where the rest of the machine is not.
    package static func trustFindings(_ settings: Settings) -> [Finding] {
        let check = MachineCheck(settings, BoardPins(), "")
        check.checkTrust(isStarting: false)
        return check.findings
    }

    /// - Parameter isStarting: what prevents a start was told already.
    func checkTrust(isStarting: Bool) {
        guard case .authority(let files) = settings.trust, !settings.keepsNothing else { return }
        let mark = files.key == nil ? files.mark : files.keyMark
        let identity: Identity?
        do throws(StartError) {
            identity = try settings.storedIdentity()
        } catch {
            // Only root and the node itself may read its key.
            return error.status == .notPermitted
                ? warn("trust: the certificate was not checked: \(error)", mark)
                : fail("trust: \(error)", mark)
        }
        guard let identity else {
            return fail(
                "trust: there is no identity in \(settings.state) yet: `rivulet identity request` "
                    + "makes it, and prints what the authority signs", mark)
        }
        do throws(AuthoritySettings.Fault) {
            let authority = try files.load(for: identity, Role(settings.role))
            let fault = files.fault(
                of: authority.certification, WallClock.read(), isStarting: isStarting)
            if let fault { tell(fault) }
        } catch {
            tell(error)
        }
    }

    private func tell(_ fault: AuthoritySettings.Fault) {
        fault.isError
            ? fail("trust: \(fault.text)", fault.mark) : warn("trust: \(fault.text)", fault.mark)
    }
}
