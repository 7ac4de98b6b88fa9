import Foundation

/// Invitations that a person at the terminal is asked about, one after the other: on the screen of
/// `MCBrowserViewController` while that is shown, else by a line.
final class Questions: Sendable {
    /// A process has one terminal.
    static let atTerminal = Questions()

    private struct Question {
        var text: String
        var isOpen: @Sendable () -> Bool
        var answer: PendingAnswer
    }

    private struct State {
        var waiting: [Question] = []
        var isScreenShown = false
        var isReaderRunning = false
    }

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "MCAdvertiserAssistant.terminal")

    /// - Parameters:
    ///   - isOpen: False once an answer comes too late: the question goes away.
    ///   - answer: Told once; false without a terminal, and where too much is asked already.
    func ask(_ text: String, isOpen: @escaping @Sendable () -> Bool, answer: PendingAnswer) {
        let isTaken = state.with { state in
            guard state.waiting.count < Self.waitingMax else { return false }
            state.waiting.append(Question(text: text, isOpen: isOpen, answer: answer))
            return true
        }
        if isTaken { readLines() } else { answer.give(false) }
    }

    /// The question of now, for a screen to show.
    var first: String? {
        dropClosed()
        return state.with { $0.waiting.first?.text }
    }

    private func dropClosed() {
        let closed = state.with { state in
            defer { state.waiting.removeAll { !$0.isOpen() } }
            return state.waiting.filter { !$0.isOpen() }
        }
        for question in closed { question.answer.give(false) }
    }

    private static let waitingMax = 100

    func answerFirst(_ answer: Bool) {
        let question = state.with { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        question?.answer.give(answer)
    }

    func screenAppeared() { state.with { $0.isScreenShown = true } }

    func screenDisappeared() {
        state.with { $0.isScreenShown = false }
        readLines()
    }

    /// Reads lines as long as something is asked and no screen is shown.
    private func readLines() {
        let begins = state.with { state in
            guard !state.isReaderRunning, !state.isScreenShown, !state.waiting.isEmpty
            else { return false }
            state.isReaderRunning = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            while let text = nextForLine() { askByLine(text) }
        }
    }

    private func nextForLine() -> String? {
        dropClosed()
        return state.with { state in
            let text = state.isScreenShown ? nil : state.waiting.first?.text
            if text == nil { state.isReaderRunning = false }
            return text
        }
    }

    private func askByLine(_ text: String) {
        guard let terminal = TerminalDevice() else {
            report("\(text) There is no terminal to ask at: set invitationHandler. Declined.")
            return answerFirst(false)
        }
        terminal.write("\(text) [y/n] ")
        // In pieces, as a screen may take over, and the question may become idle.
        while !state.with({ $0.isScreenShown }) {
            guard first == text else { return terminal.write("\nToo late.\n") }
            guard let bytes = terminal.read(within: 100) else { return answerFirst(false) }
            if bytes.isEmpty { continue }
            guard let answer = Self.answer(bytes) else {
                terminal.write("Please answer y or n. \(text) [y/n] ")
                continue
            }
            return answerFirst(answer)
        }
    }

    private static func answer(_ line: [UInt8]) -> Bool? {
        let text = String(decoding: line, as: UTF8.self)
        switch text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
        case "y", "yes": return true
        case "n", "no": return false
        default: return nil
        }
    }
}
