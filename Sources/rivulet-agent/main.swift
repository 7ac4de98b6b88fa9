import Glibc
import Program

exit(agentMain(Array(CommandLine.arguments.dropFirst())))
