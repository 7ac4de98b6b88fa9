import CNATS
import CollectorConfiguration
import Glibc
import Outputs

/// What the library is told about servers and who we are.
struct NATSOptions {
    private let settings: NATSSettings
    /// Milliseconds.
    private let timeLimit: Int64
    private let place: String

    init(_ settings: NATSSettings, _ timeLimit: Int64, _ place: String) {
        self.settings = settings
        self.timeLimit = timeLimit
        self.place = place
    }

    func apply(to options: OpaquePointer?) throws(OutputFault) {
        let urls = settings.servers.map { UnsafePointer(strdup("nats://" + $0)) }
        defer { for url in urls { free(UnsafeMutablePointer(mutating: url)) } }
        var list = urls
        try check(natsOptions_SetServers(options, &list, Int32(urls.count)), "servers")
        // In one order, so that a fault has the same words each time.
        try check(natsOptions_SetNoRandomize(options, true), "servers")
        try check(natsOptions_SetAllowReconnect(options, false), "reconnection")
        try check(natsOptions_SetTimeout(options, timeLimit), "time-limit")
        try check(natsOptions_SetPingInterval(options, max(1_000, timeLimit / 2)), "time-limit")
        try check(natsOptions_SetName(options, "rivulet"), "name")
        // The library's own words go to its callers, not to standard error.
        try check(natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil), "handler")
        try applyAccess(to: options)
        try applyTLS(to: options)
    }

    private func applyAccess(to options: OpaquePointer?) throws(OutputFault) {
        if let path = settings.credentials {
            do throws(PasswordSource.Fault) {
                try PasswordSource.checkPrivate(path, "credentials")
            } catch {
                throw OutputFault(.refused, "\(place): \(error)")
            }
            try check(
                natsOptions_SetUserCredentialsFromFiles(options, path, nil), "credentials \(path)")
        }
        guard let user = settings.user else { return }
        let password: String?
        do throws(PasswordSource.Fault) {
            password = try settings.password.read()
        } catch {
            throw OutputFault(.refused, "\(place): \(error)")
        }
        try check(natsOptions_SetUserInfo(options, user, password ?? ""), "user")
    }

    private func applyTLS(to options: OpaquePointer?) throws(OutputFault) {
        let tls = settings.tls
        guard tls.isOn else { return }
        try check(natsOptions_SetSecure(options, true), "tls")
        if tls.isVerified {
            let path = tls.authority ?? ServerTLS.systemAuthorities
            try check(natsOptions_LoadCATrustedCertificates(options, path), "ca \(path)")
        } else {
            try check(natsOptions_SkipServerVerification(options, true), "verify")
        }
        guard let certificate = tls.certificate, let key = tls.key else { return }
        try check(
            natsOptions_LoadCertificatesChain(options, certificate, key),
            "certificate \(certificate) and key \(key)")
    }

    private func check(_ status: natsStatus, _ what: String) throws(OutputFault) {
        guard status != NATS_OK else { return }
        let words = NATSConnection.lastWords()
        throw OutputFault(
            .refused,
            "\(place): \(what): " + (words.isEmpty ? NATSConnection.text(status) : words))
    }
}
