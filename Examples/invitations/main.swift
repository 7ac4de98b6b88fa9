import Foundation

// example-invitations NAME [MOOD]: the mood is what others see before they invite.
guard CommandLine.arguments.count > 1 else {
    print("usage: example-invitations NAME [MOOD]")
    exit(2)
}
let mood = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "in a good mood"
let lobby = Lobby(
    name: CommandLine.arguments[1], mood: mood,
    folder: URL(fileURLWithPath: "Received", isDirectory: true))
lobby.start()
Thread.detachNewThread {
    while let line = readLine() { DispatchQueue.main.async { lobby.handle(line) } }
    DispatchQueue.main.async { lobby.handle("/quit") }
}
RunLoop.main.run()
