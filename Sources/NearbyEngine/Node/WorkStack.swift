/// What is to be done, depth first: what comes of one thing is done before the next one, in the
/// order in which it was said. So nothing is begun while something else is half done.
struct WorkStack<Work> {
    /// The last one is next.
    private var stack: [Work] = []
    /// What came of the one that was taken last, first things first.
    private var fresh: [Work] = []

    init() {}

    mutating func add(_ work: Work) { fresh.append(work) }

    mutating func add<Output>(_ outputs: [Output], as work: (Output) -> Work) {
        for output in outputs { fresh.append(work(output)) }
    }

    mutating func next() -> Work? {
        if fresh.count == 1 { return fresh.popLast() }
        while let last = fresh.popLast() { stack.append(last) }
        return stack.popLast()
    }
}
