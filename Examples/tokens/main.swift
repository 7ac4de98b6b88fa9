// Swaps tokens with a device nearby: `example-tokens NAME [IDENTITY]`.
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard (1...2).contains(arguments.count) else {
    print("usage: example-tokens NAME [IDENTITY]")
    exit(2)
}
let token = Token()
print("I am \(arguments[0]). My token: \(token)")
let exchange = TokenExchange(
    name: arguments[0], identity: arguments.count > 1 ? arguments[1] : nil, token: token)
exchange.start()
// Until a line, or the end of what is typed.
_ = readLine()
exchange.stop()
