import NearbyCore
import NearbyEngine

/// A program around a node, as its runner sees it.
public protocol NodeOwner: AnyObject {
    /// The node that runs, by itself or in a composition.
    var node: Node { get }
    /// When `deadlineReached` is wanted next.
    var nextDeadline: Instant? { get }
    /// Takes one batch of inputs for the node, and carries out what follows: transmissions and
    /// events go to the runner, and `settled` ends it.
    func handle(_ inputs: [Node.Input], now: Instant)
    func deadlineReached(now: Instant)
}
