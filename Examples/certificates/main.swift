// Peers that show certificates, with a preference for encryption.
import Foundation

do {
    guard let options = try Options(Array(CommandLine.arguments.dropFirst())) else {
        print(Options.usage)
        exit(2)
    }
    let member = Member(options)
    member.session.failureHandler = { @Sendable peerID, error in
        print("\(peerID.displayName): \(error.localizedDescription)")
    }
    member.start()
    print("I am \(options.name).")
    while let line = readLine(), line != "quit" { member.say(line) }
    member.stop()
} catch {
    print("no: \(error.localizedDescription)")
    exit(1)
}
