import Glibc
import NodeShell

exit(agentMain(Array(CommandLine.arguments.dropFirst())))
