import NearbyCore
import NearbyWire

/// What one of the machines said, or is to be told, and nobody has acted on yet.
enum NodeWork {
    /// An opened frame on a channel.
    case frame(ArraySlice<UInt8>, on: PeerChannel, Arrival)
    case rendezvous(RendezvousMachine.Output)
    case channel(ChannelMachine.Output)
    case peers(PeerMachine.Output)
    case mesh(MeshMachine.Output)
    // Each has its turn when what the one before it said was done.
    case rendezvousIsDue
    case meshIsDue
    case timer(NodeTimers.Timer)
}
