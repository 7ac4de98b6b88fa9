// Three devices in a row: `example-three-devices NAME`, and `example-three-devices NAME middle` on
// the one that both others reach.
import Foundation

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first else {
    print("usage: example-three-devices NAME [middle]")
    exit(2)
}
let device = Device(name: name)
device.start(isInTheMiddle: arguments.last == "middle")
print("I am \(name). Type a message, \"stream NAME WORDS\", \"who\" or \"quit\".")
while let line = readLine(), line != "quit" { device.typed(line) }
device.stop()
