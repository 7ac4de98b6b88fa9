import Foundation

/// Writes a sentence to standard error: for what nobody asked to be told of, and should know.
func report(_ sentence: String) {
    FileHandle.standardError.write(Data("MultipeerConnectivity: \(sentence)\n".utf8))
}

/// For mistakes of the program that Apple's framework answers with an exception.
///
/// An optimized program drops the message of a precondition, so it is written first.
func endProgram(_ sentence: String) -> Never {
    report(sentence)
    preconditionFailure(sentence)
}
