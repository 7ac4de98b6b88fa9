import NearbyCore

/// What a part of the machine wants done: outputs for the owner, frames for the peer.
struct TransferEffects: Sendable {
    var outputs: [TransferOutput] = []
    /// They are sent until they arrive.
    var frames: [TransferFrame] = []

    static func += (left: inout TransferEffects, right: TransferEffects) {
        left.outputs += right.outputs
        left.frames += right.frames
    }
}
