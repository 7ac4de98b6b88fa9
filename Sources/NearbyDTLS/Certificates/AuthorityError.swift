import DurableFiles
import NearbyCore

/// What is wrong with the files of `trust: authority`. `description` says which file, what, and what
/// to do.
public enum AuthorityError: Error, Equatable, CustomStringConvertible {
    case missing(path: String)
    case unreadable(path: String, FileError)
    case notPEM(path: String)
    case tooMany(path: String, limit: Int)
    /// `number`: of the certificate in the file, from 1.
    case notAnAuthority(path: String, number: Int)
    /// Only anchors are in it.
    case notAChain(path: String)
    /// Nil: of a key that is no peer's.
    case otherKey(path: String, PeerID?, own: PeerID)
    case chainTooLong(path: String)
    case notLeading(path: String, anchors: String, why: String)

    public var description: String {
        switch self {
        case .missing(let path):
            "there is no \(path); `rivulet identity request` prints what the authority signs, "
                + "`rivulet identity import` stores what it gave"
        case .unreadable(let path, let error): "\(path): \(error)"
        case .notPEM(let path): "\(path): no readable certificate in PEM is in it"
        case .tooMany(let path, let limit): "\(path): more than \(limit) certificates"
        case .notAnAuthority(let path, let number):
            "\(path): certificate \(number) in it is no authority's (it lacks CA:TRUE)"
        case .notAChain(let path):
            "\(path): only the authority's own certificate is in it, none for this node"
        case .otherKey(let path, let peer, let own):
            "\(path): its first certificate is for the key of \(peer.map { "\($0)" } ?? "nobody"), "
                + "and this node is \(own): have what `rivulet identity request` prints signed"
        case .chainTooLong(let path):
            "\(path): the chain is too long: at most \(Limits.chainLengthMax) certificates and "
                + "\(Limits.certificateListBytesMax) bytes"
        case .notLeading(let path, let anchors, let why):
            "\(path): does not lead to a certificate in \(anchors): \(why)"
        }
    }

    /// Of the file that is wrong.
    public var path: String {
        switch self {
        case .missing(let path), .unreadable(let path, _), .notPEM(let path),
            .tooMany(let path, _), .notAnAuthority(let path, _), .notAChain(let path),
            .otherKey(let path, _, _), .chainTooLong(let path), .notLeading(let path, _, _):
            path
        }
    }
}
