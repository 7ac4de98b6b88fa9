import Store

/// Where the store is, and how far the outputs had come when it was opened.
public struct OutputSource: Sendable {
    public var path: String
    /// Another one for each store that takes the place of a damaged one.
    public var generation: UInt64
    public var progress: [OutputProgress]

    public init(path: String, generation: UInt64, progress: [OutputProgress]) {
        self.path = path
        self.generation = generation
        self.progress = progress
    }
}
