import FuzzTargets
import Glibc

#if FUZZING
    typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// libFuzzer, linked by Tests/fuzz.sh (llvm.org/docs/LibFuzzer.html, using libFuzzer as a
    /// library).
    @_silgen_name("LLVMFuzzerRunDriver")
    func runDriver(
        _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<Arguments?>,
        _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    /// What the package manager makes the program's entry. $FUZZ_TARGET says which parser.
    @_cdecl("fuzz_main")
    func begin(_ count: Int32, _ arguments: Arguments?) -> Int32 {
        var (count, arguments) = (count, arguments)
        return runDriver(&count, &arguments) { start, count in
            Chosen.target.run(Array(UnsafeBufferPointer(start: start, count: count)))
            return 0
        }
    }

    enum Chosen {
        static let target: FuzzTarget = {
            let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
            guard let target = FuzzTarget(named: name) else {
                print("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name))")
                exit(64)
            }
            return target
        }()
    }
#else
    /// Without libFuzzer: the names of the parsers.
    @main enum Names {
        static func main() { for target in FuzzTarget.all { print(target.name) } }
    }
#endif
