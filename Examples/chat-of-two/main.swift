import Foundation

// example-chat-of-two NAME
guard CommandLine.arguments.count == 2 else {
    print("usage: example-chat-of-two NAME")
    exit(2)
}
let screens = Screens(manager: MPCManager(name: CommandLine.arguments[1]))
Thread.detachNewThread {
    while let line = readLine() { DispatchQueue.main.async { screens.handle(line) } }
    exit(0)
}
RunLoop.main.run()
