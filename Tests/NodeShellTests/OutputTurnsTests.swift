import NodeShell
import Testing

struct OutputTurnsTests {
    @Test func whatComesMeanwhileHasItsTurnAfterwards() {
        var turns = OutputTurns<Int>()
        var said: [Int] = []
        var begun = [turns.begin(with: [1, 2, 3])]
        while let output = turns.next() {
            said.append(output)
            // What it leads to, twice over.
            if output == 1 { begun.append(turns.begin(with: [10, 11])) }
            if output == 10 { begun.append(turns.begin(with: [100])) }
        }
        #expect(begun == [true, false, false])
        #expect(said == [1, 2, 3, 10, 11, 100])
    }

    @Test func whatWasCarriedOutIsNotCarriedOutAgain() {
        var turns = OutputTurns<Int>()
        for round in [[0], [1], [], [2]] {
            let isOurs = turns.begin(with: round)
            #expect(isOurs)
            var said: [Int] = []
            while let output = turns.next() { said.append(output) }
            #expect(said == round)
        }
    }
}
