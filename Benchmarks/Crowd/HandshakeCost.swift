import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux

/// What both sides of one handshake compute, from the first flight to keys, and nothing else: no
/// network, no node around them. The floor below which no crowd joins.
func handshakeCost(count: Int) -> Duration? {
    let client = OpenSSLCryptography(identity: NodeIdentity.makeEphemeral())
    let server = OpenSSLCryptography(identity: NodeIdentity.makeEphemeral())
    let began = MonotonicClock.now()
    for _ in 0..<count {
        guard shakeHands(client.makeClient(now: began), with: server) else { return nil }
    }
    return (MonotonicClock.now() - began) / count
}

private func shakeHands(_ client: any SecureChannel, with server: OpenSSLCryptography) -> Bool {
    let now = MonotonicClock.now()
    var accepted: (any SecureChannel)?
    for _ in 0..<10 {
        for datagram in client.takeOutgoing() {
            if let accepted {
                accepted.receive(datagram[...], now: now)
                continue
            }
            switch server.listen(datagram[...], from: [1], now: now) {
            case .reply(let cookie): client.receive(cookie[...], now: now)
            case .accepted(let channel): accepted = channel
            case .dropped: return false
            }
        }
        for datagram in accepted?.takeOutgoing() ?? [] { client.receive(datagram[...], now: now) }
        if case .finished = client.state, case .finished? = accepted?.state { return true }
    }
    return false
}
