import CCurl
import CollectorConfiguration
import Glibc
import NearbyCore
import NearbyLinux
import Outputs

/// A server over libcurl: one connection, kept open, and one request at a time, which blocks for as
/// long as the server's time limit.
///
/// TLS is verified, redirects are not followed, an answer is read up to 64 KiB. A proxy is taken
/// from the environment (`https_proxy`, `http_proxy`, `no_proxy`).
final class HTTPClient {
    private static let connectMilliseconds = 5_000
    /// How long a server may ask to be left alone.
    private static let pauseMax: Duration = .seconds(600)

    private let server: HTTPServer
    private var curl: UnsafeMutableRawPointer?
    private let transfer = HTTPTransfer()
    /// Until when the server asked to be left alone, and what it said.
    private var pause: (until: Instant, fault: OutputFault)?
    /// What no message may show: of the last request.
    private(set) var secrets: [String] = []

    /// Once in the process, before any thread uses libcurl.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameter server: with an address.
    init(_ server: HTTPServer) { self.server = server }

    deinit { close() }

    /// The server is left alone for as long as it asks to be.
    func heed(_ answer: HTTPAnswer, _ fault: OutputFault) {
        guard let wait = answer.retryAfter else { return }
        pause = (MonotonicClock.now() + min(wait, Self.pauseMax), fault)
    }

    /// It is not left alone any longer.
    func forgetPause() { pause = nil }

    /// `host:port`.
    var target: String { server.address?.target ?? "" }

    func close() {
        if let curl { curl_easy_cleanup(curl) }
        curl = nil
    }

    /// The answer, whatever it is; only what every server means alike is thrown.
    ///
    /// - Parameters:
    ///   - tokenWord: what stands before a token: `Bearer`, or InfluxDB's `Token`.
    ///   - isSpecial: which answers mean something else to the caller.
    func post(
        _ request: HTTPRequest, tokenWord: String = "Bearer",
        where isSpecial: (HTTPAnswer) -> Bool = { _ in false }
    ) throws(OutputFault) -> HTTPAnswer {
        if let pause {
            guard MonotonicClock.now() >= pause.until else { throw pause.fault }
            self.pause = nil
        }
        let curl = try prepared(request, tokenWord)
        transfer.begin()
        let code = request.body.withUnsafeBytes { body in
            _ = ccurl_set_body(curl, body.baseAddress ?? UnsafeRawPointer(curl), body.count)
            return curl_easy_perform(curl)
        }
        transfer.end()
        // The writer stops what is longer than it wants to read.
        guard code == CURLE_OK || code == CURLE_WRITE_ERROR && transfer.isFull else {
            throw CurlFault(code, curl, transfer).fault(at: target, server)
        }
        let seconds = ccurl_retry_after(curl)
        let answer = HTTPAnswer(
            status: Int(ccurl_status(curl)), body: transfer.body,
            retryAfter: seconds > 0 ? .seconds(min(seconds, 86_400)) : nil)
        if isSpecial(answer) { return answer }
        if let fault = HTTPFault.common(answer, at: target, hiding: secrets) {
            heed(answer, fault)
            throw fault
        }
        return answer
    }

    // MARK: Options

    private func prepared(
        _ request: HTTPRequest, _ tokenWord: String
    ) throws(OutputFault) -> UnsafeMutableRawPointer {
        guard Self.isReady, let curl = curl ?? curl_easy_init() else {
            throw OutputFault(.unavailable, "libcurl has no memory")
        }
        self.curl = curl
        // The connection stays open.
        curl_easy_reset(curl)
        set(CURLOPT_URL, (server.address?.text ?? "") + request.target)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_USERAGENT, "rivulet")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_VERSION, ccurl_http_1_1())
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.connectMilliseconds)
        set(CURLOPT_TIMEOUT_MS, Int(clamping: server.timeLimit.milliseconds))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_POST, 1)
        setTLS()
        transfer.attach(to: curl)
        let authorization = try login(tokenWord)
        transfer.setHeaders(
            // Without the question whether a long body may be sent.
            ["Content-Type: " + request.contentType, "Expect:"] + request.headers + authorization,
            of: curl)
        return curl
    }

    private func setTLS() {
        set(CURLOPT_SSLVERSION, ccurl_tls_1_2())
        set(CURLOPT_SSL_VERIFYPEER, server.tls.isVerified ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, server.tls.isVerified ? 2 : 0)
        if let authority = server.tls.authority {
            set(CURLOPT_CAINFO, authority)
            _ = ccurl_set_pointer(curl, CURLOPT_CAPATH, nil)
        }
        if let certificate = server.tls.certificate, let key = server.tls.key {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, key)
        }
    }

    /// The header lines that say who we are. Passwords are read anew each time.
    private func login(_ tokenWord: String) throws(OutputFault) -> [String] {
        secrets = []
        switch server.login {
        case .none: return []
        case .password(let user, let source):
            let password = try secret(source)
            set(CURLOPT_HTTPAUTH, Int(ccurl_auth_basic()))
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
            // As the server sees it, and may repeat it.
            secrets.append(Base64.text("\(user):\(password)".utf8))
            return []
        case .token(let source):
            return ["Authorization: \(tokenWord) " + (try secret(source))]
        }
    }

    private func secret(_ source: PasswordSource) throws(OutputFault) -> String {
        do throws(PasswordSource.Fault) {
            let secret = try source.read() ?? ""
            secrets = [secret]
            return secret
        } catch {
            throw OutputFault(.refused, "\(target): \(error.description)")
        }
    }

    private func set(_ option: CURLoption, _ text: String) {
        _ = ccurl_set_text(curl, option, text)
    }

    private func set(_ option: CURLoption, _ number: Int) {
        _ = ccurl_set_long(curl, option, number)
    }
}
