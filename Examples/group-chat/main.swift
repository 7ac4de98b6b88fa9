import Foundation

// example-group-chat NAME [FOLDER]: files that arrive are kept in the folder.
guard CommandLine.arguments.count > 1 else {
    print("usage: example-group-chat NAME [FOLDER]")
    exit(2)
}
let folder = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "Received"
let chat = GroupChat(
    name: CommandLine.arguments[1], folder: URL(fileURLWithPath: folder, isDirectory: true))
chat.start()
RunLoop.main.run()
