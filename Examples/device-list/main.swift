import Foundation

// example-device-list NAME ROOM
guard CommandLine.arguments.count == 3 else {
    print("usage: example-device-list NAME ROOM")
    exit(2)
}
let room = CommandLine.arguments[2]
let list = DeviceList()
print("You are \(DeviceCenter.shared.peerID.displayName), in \(room).")
print("NUMBER TEXT writes to a device, +NUMBER connects, -NUMBER disconnects, Ctrl-Z sleeps.")
DeviceCenter.shared.start(room: room)

// Into the background and back: Ctrl-Z and `fg`.
let background = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: .main)
signal(SIGTSTP, SIG_IGN)
background.setEventHandler {
    DeviceCenter.shared.stop()
    // What takes leave is on its way.
    DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) { kill(getpid(), SIGSTOP) }
}
background.resume()
let foreground = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .main)
foreground.setEventHandler { DeviceCenter.shared.start(room: room) }
foreground.resume()

Thread.detachNewThread {
    while let line = readLine() { DispatchQueue.main.async { list.handle(line) } }
    exit(0)
}
RunLoop.main.run()
