import CCurl
import CollectorConfiguration
import Configuration
import Glibc
import Outputs

/// Why no answer came.
struct CurlFault {
    private let code: CURLcode
    private let text: String
    private let systemCode: Int32

    /// Of the transfer that has just ended.
    init(_ code: CURLcode, _ curl: UnsafeMutableRawPointer, _ transfer: HTTPTransfer) {
        self.code = code
        text = transfer.errorText
        systemCode = Int32(clamping: ccurl_errno(curl))
    }

    /// What libcurl says beside the code often has milliseconds in it: only the texts of TLS, which
    /// are the same each time, are shown.
    func fault(at target: String, _ server: HTTPServer) -> OutputFault {
        let standard = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return OutputFault(
                .unavailable, "\(target): its name cannot be resolved; check url, and the network")
        case CURLE_COULDNT_CONNECT:
            let reason = systemCode == 0 ? standard : String(cString: strerror(systemCode))
            return OutputFault(
                .unavailable, "\(target): \(reason); is the server running, and is it reached?")
        case CURLE_OPERATION_TIMEDOUT:
            return OutputFault(
                .unavailable,
                "\(target): no answer within \(Settings.text(server.timeLimit)); is the server "
                    + "overloaded? A longer timeout may help")
        case CURLE_PEER_FAILED_VERIFICATION:
            return OutputFault(
                .refused,
                "\(target): \(text.isEmpty ? standard : text); name the authority that signed the "
                    + "server's certificate as ca in tls, or have the certificate renewed")
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
            return OutputFault(
                .refused, "\(target): \(text.isEmpty ? standard : text); check the files in tls")
        case CURLE_SSL_CONNECT_ERROR:
            return OutputFault(
                .refused,
                "\(target): no TLS connection (\(text.isEmpty ? standard : text)); does it speak "
                    + "https?")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY,
            CURLE_BAD_CONTENT_ENCODING:
            return OutputFault(
                .unsuitable,
                "\(target): what answers there does not speak HTTP (\(standard)); check url"
                    + (server.tls.isOn ? "" : ": it may want https"))
        default:
            return OutputFault(.unavailable, "\(target): \(standard); it is tried again")
        }
    }
}
