/// Outputs of one composition, carried out in the order in which they were said: what comes of an
/// input that is given meanwhile has its turn after them.
package struct OutputTurns<Output> {
    private var outputs: [Output] = []
    private var done = 0
    private var isBusy = false

    package init() {}

    /// Returns whether the caller is to carry out what there is; otherwise somebody does already.
    package mutating func begin(with new: [Output]) -> Bool {
        guard !isBusy else {
            outputs += new
            return false
        }
        (outputs, done, isBusy) = (new, 0, true)
        return true
    }

    package mutating func next() -> Output? {
        guard done < outputs.count else {
            (outputs, isBusy) = ([], false)
            return nil
        }
        defer { done += 1 }
        return outputs[done]
    }
}
