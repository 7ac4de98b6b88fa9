// swift-tools-version:6.0
import Glibc
import PackageDescription

/// Every target is built with the same settings; warnings are errors in CI (deploy/test.sh passes the flag).
/// Whole modules at a time where nobody edits (RIVULET_FAST_TESTS=whole): a tenth less to compute.
let settings: [SwiftSetting] =
    [.enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["RIVULET_FAST_TESTS"] != "whole"
        ? []
        : [
            .unsafeFlags(
                ["-whole-module-optimization", "-num-threads", "1"], .when(configuration: .debug))
        ])

/// What computes for minutes in tests is optimised in their build, where deploy/test.sh says so: a sixth of the
/// time. Nobody else: whoever depends on this package may have no such flags in it.
let logicSettings =
    Context.environment["RIVULET_FAST_TESTS"] == nil
    ? settings
    : settings + [
        .unsafeFlags(
            ["-O", "-whole-module-optimization", "-num-threads", "1"], .when(configuration: .debug))
    ]

func library(
    _ name: String, _ dependencies: [Target.Dependency], linking libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, swiftSettings: settings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// A library without an outside world: all that it does is compute.
func logic(
    _ name: String, _ dependencies: [Target.Dependency], linking libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, swiftSettings: logicSettings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(of name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil)
    -> Target
{
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies,
        exclude: ["Vectors"], swiftSettings: settings)
}

/// A program of Examples/, written as those for iOS are, and in their language mode. With files that
/// are not compiled: README.md, test.sh.
func example(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: "example-\(name)", dependencies: ["MultipeerConnectivity"] + dependencies,
        path: "Examples/\(name)", exclude: ["README.md", "test.sh"],
        swiftSettings: settings + [.swiftLanguageMode(.v5)])
}

/// Parsers of bytes from outside: replayed by tests, or, where Tests/fuzz.sh builds, in libFuzzer.
let parsers: [Target.Dependency] = [
    "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyGroups", "NearbyTransfers",
    "NearbyCertificates", "NearbyDTLS", "NearbyKeys",
    "NearbyLinux", "NearbyAvahi", "NearbyBluetooth", "Telemetry", "Collector", "Sampling",
    "Sensors", "Configuration", "CollectorConfiguration", "Boards", "DurableFiles", "Spool",
    "Store", "Setup", "COpenSSL",
]
let fuzzing: [Target] =
    Context.environment["RIVULET_FUZZING"] == nil
    ? [
        .testTarget(
            name: "FuzzTests", dependencies: parsers, exclude: ["Corpus"], swiftSettings: settings)
    ]
    : [
        .target(
            name: "FuzzTargets", dependencies: parsers, path: "Tests/FuzzTests/Targets",
            swiftSettings: settings),
        // In place of the kernel's files: C, so that the fuzzer's counters are not in it.
        .target(name: "CMemoryFiles", path: "Tests/CMemoryFiles"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "CMemoryFiles"], path: "Tests/Fuzz",
            swiftSettings: settings),
    ]

/// Systems that were built on Apple's framework, as terminal programs. A release (RIVULET_RELEASE) is
/// without them: with Swift's runtime in each of them they would need all that Foundation links.
let examples: [Target] =
    Context.environment["RIVULET_RELEASE"] != nil
    ? []
    : [
        .target(
            name: "ChatRoom", dependencies: ["MultipeerConnectivity"], path: "Examples/ChatRoom",
            swiftSettings: settings + [.swiftLanguageMode(.v5)]),
        example("group-chat", ["ChatRoom"]),
        example("invitations", ["ChatRoom"]),
        example("chat-of-two"),
        example("device-list"),
        example("three-devices"),
        example("certificates"),
        example("auto-invitation"),
        example("custom-discovery"),
        example("tokens"),
    ]

let package = Package(
    name: "rivulet",
    products: [
        .library(name: "Nearby", targets: ["Nearby"]),
        .library(name: "NearbyReadings", targets: ["NearbyReadings"]),
        .library(name: "MultipeerConnectivity", targets: ["MultipeerConnectivity"]),
        .executable(name: "rivulet-agent", targets: ["rivulet-agent"]),
        .executable(name: "rivulet", targets: ["rivulet"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
    ],
    targets: [
        // C: a module map and a shim header of static inline functions, nothing else.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CQREncode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CGPIOD", providers: [.apt(["libgpiod-dev"])]),
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CNATS", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CMosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),

        // Files that survive power cuts, through a seam where tests make each call fail.
        logic("DurableFiles", []),

        // The network side: knows nothing of sensors.
        logic("NearbyCore", []),
        logic("NearbyWire", ["NearbyCore"]),
        logic("NearbyEngine", ["NearbyCore", "NearbyWire"]),
        // Sessions of applications: knows nothing of nodes.
        logic("NearbyGroups", ["NearbyCore", "NearbyWire"]),
        // Streams and resources between two of them: above the node, which knows nothing of it.
        logic("NearbyTransfers", ["NearbyCore", "NearbyWire", "NearbyEngine"]),
        library("NearbyDTLS", ["NearbyCore", "NearbyEngine", "DurableFiles", "COpenSSL"]),
        // What people do with a node's key: only the command line links it.
        library(
            "NearbyKeys", ["NearbyDTLS", "DurableFiles", "COpenSSL"]),
        library("NearbyLinux", ["NearbyCore", "CLinux"]),
        library("NearbyAvahi", ["NearbyCore", "NearbyWire", "NearbyLinux", "CAvahi"]),
        library(
            "NearbyBluetooth", ["NearbyCore", "NearbyWire", "NearbyLinux", "CBluetooth"]),

        // Certificates that members of a session show each other.
        library("NearbyCertificates", ["NearbyGroups", "COpenSSL"]),
        // What Swift programs use: peers, advertisers, browsers, sessions.
        library(
            "Nearby",
            [
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyGroups", "NearbyTransfers",
                "NearbyDTLS", "NearbyLinux", "NearbyAvahi", "NearbyBluetooth",
                "NearbyCertificates", "DurableFiles", "CLinux",
            ]),
        // Apple's framework on top of Nearby: the one library that uses Foundation.
        library("MultipeerConnectivity", ["NearbyCore", "Nearby", "CCurl"]),
        .executableTarget(
            name: "nearby-hello", dependencies: ["Nearby"], path: "Examples/hello",
            swiftSettings: settings),

        // The telemetry side: knows nothing of sockets.
        logic("Telemetry", ["NearbyCore"]),
        logic("Spool", ["NearbyCore", "Telemetry", "DurableFiles"]),
        // When sensors are read, and what becomes of what they say.
        logic("Sampling", ["NearbyCore", "Telemetry"]),
        library(
            "Sensors",
            [
                "NearbyCore", "Telemetry", "Sampling", "DurableFiles", "CLinux", "CGPIOD",
                "COpenSSL",
            ]),
        library("Configuration", ["NearbyCore", "Telemetry", "CYAML"]),
        // What a collector's file says besides: outputs, the page, agents and alarms. No agent links it.
        library("CollectorConfiguration", ["Configuration", "NearbyCore", "Telemetry"]),
        library("Boards", ["Configuration"]),
        // Square roots and rounding come from libm, which nothing but Glibc's module would link.
        logic("Collector", ["NearbyCore", "Telemetry"], linking: ["m"]),
        // The two sides meet here for programs of others: readings over Nearby.
        library(
            "NearbyReadings",
            ["Nearby", "NearbyCore", "NearbyLinux", "Telemetry", "Configuration"]),
        .executableTarget(
            name: "example-sensor-readings", dependencies: ["Nearby", "NearbyReadings"],
            path: "Examples/sensor-readings", exclude: ["README.md", "test.sh"],
            swiftSettings: settings),

        // Only the command line links it: an agent has no database.
        logic(
            "Store",
            [
                "NearbyCore", "Telemetry", "Collector", "Fleet", "Outputs", "DurableFiles",
                "Spool", "CSQLite",
            ]),

        // Behind the collector. Pure: how the network looks; what outputs are given, and the formats
        // they speak; alarms.
        library("Fleet", ["NearbyCore", "Telemetry", "Collector"]),
        library("Outputs", ["NearbyCore", "Telemetry", "Fleet"]),
        library("Alarms", ["NearbyCore", "Telemetry", "Collector", "Fleet"]),
        // The outside world, a kind of server each.
        library(
            "OutputFiles",
            [
                "NearbyCore", "Telemetry", "Fleet", "Outputs", "CollectorConfiguration",
                "NearbyLinux",
                "DurableFiles", "CLinux",
            ]),
        library(
            "OutputHTTP",
            [
                "NearbyCore", "NearbyLinux", "Fleet", "Outputs", "CollectorConfiguration",
                "Configuration", "CCurl",
            ]),
        library(
            "OutputPostgres",
            ["NearbyCore", "Telemetry", "Fleet", "Outputs", "CollectorConfiguration", "CPostgres"]),
        library(
            "OutputNATS",
            ["NearbyCore", "Telemetry", "Fleet", "Outputs", "CollectorConfiguration", "CNATS"]),
        library(
            "OutputMQTT",
            [
                "NearbyCore", "Telemetry", "Fleet", "Outputs", "CollectorConfiguration",
                "Configuration", "CMosquitto",
            ]),
        // The page, which reads the store.
        .target(
            name: "FleetPage",
            dependencies: [
                "NearbyCore", "Telemetry", "Collector", "Store", "Fleet", "Outputs",
                "CollectorConfiguration", "Configuration", "NearbyLinux", "CMicroHTTPD",
            ],
            // HTML, CSS and JavaScript, in the program itself.
            resources: [.embedInCode("Page")], swiftSettings: settings),
        // Their threads, behind the store.
        library(
            "OutputShell",
            [
                "NearbyCore", "Telemetry", "Store", "Fleet", "Outputs", "CollectorConfiguration",
                "NearbyLinux", "OutputFiles", "OutputHTTP", "OutputPostgres", "OutputNATS",
                "OutputMQTT", "CLinux",
            ]),

        // Whole agents and collectors, without sockets, threads and files: what the simulator runs.
        logic("AgentComposition", ["NearbyCore", "NearbyEngine", "Telemetry", "Sampling"]),
        logic("CollectorComposition", ["NearbyCore", "NearbyEngine", "Telemetry", "Collector"]),

        // Many nodes on one virtual clock: for tests, and for who plans a site.
        logic("NearbySimulator", ["NearbyCore", "NearbyWire", "NearbyEngine"]),

        // The shells around them: what both share, with the agent's own; and the collector's.
        library(
            "NodeShell",
            [
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyDTLS", "NearbyLinux",
                "NearbyAvahi", "NearbyBluetooth", "Telemetry", "Sampling", "Sensors",
                "AgentComposition", "Boards", "Spool", "Configuration", "DurableFiles",
            ]),
        library(
            "CollectorShell",
            [
                "NodeShell", "CollectorConfiguration", "Configuration", "NearbyCore",
                "NearbyEngine", "NearbyLinux", "Telemetry", "Collector", "CollectorComposition",
                "Store", "Fleet", "Outputs",
                "OutputShell", "OutputHTTP", "OutputFiles", "FleetPage", "Alarms", "DurableFiles",
            ]),
        // What `rivulet ping`, `trace`, `topology` and `browse` make of a node's answers.
        library(
            "Survey",
            [
                "NodeShell", "Configuration", "NearbyCore", "NearbySimulator", "Collector",
                "Telemetry", "Fleet",
            ]),
        // What `rivulet top` draws.
        library("FleetTerminal", ["NearbyCore", "Telemetry", "Collector", "Fleet"]),
        // How a machine becomes a node of a network: `rivulet init` and `rivulet join`.
        library(
            "Setup",
            [
                "NodeShell", "CollectorConfiguration", "Configuration", "Boards", "NearbyCore",
                "NearbyEngine", "NearbyDTLS", "NearbyKeys", "NearbyLinux", "DurableFiles", "Spool",
            ]),
        // Files from peer to peer: `rivulet send` and `rivulet receive`.
        library(
            "FileTransfer",
            [
                "Nearby", "NearbyCore", "NearbyLinux", "Configuration", "DurableFiles", "CLinux",
            ]),
        .executableTarget(
            name: "rivulet-agent", dependencies: ["NodeShell"], swiftSettings: settings),
        .executableTarget(
            name: "rivulet",
            dependencies: [
                "NodeShell", "CollectorShell", "CollectorConfiguration", "Configuration", "Boards",
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyLinux", "Collector", "Store",
                "Setup", "Survey", "NearbySimulator", "Nearby", "FileTransfer", "CLinux",
                "CQREncode",
                "Fleet", "FleetTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Tests. What goes wrong in the simulator, with whole agents and collectors; not shipped.
        .target(
            name: "FaultRuns",
            dependencies: [
                "NearbySimulator", "NearbyCore", "NearbyWire", "NearbyEngine", "Telemetry",
                "Sampling", "AgentComposition", "Collector", "CollectorComposition",
            ],
            path: "Tests/FaultRuns", swiftSettings: logicSettings),
        // What the next two measure with.
        .target(
            name: "BenchNode",
            dependencies: [
                "NodeShell", "Configuration", "NearbyCore", "NearbyEngine", "NearbyLinux",
            ],
            path: "Benchmarks/Node", swiftSettings: settings),
        // One-way times through real nodes, for Benchmarks/run.sh.
        .executableTarget(
            name: "latency",
            dependencies: [
                "BenchNode", "Configuration", "NearbyCore", "NearbyEngine", "NearbyLinux",
            ],
            path: "Benchmarks/Latency", swiftSettings: settings),
        // Reports as fast as they can be sealed, for Benchmarks/run.sh.
        .executableTarget(
            name: "ingest",
            dependencies: [
                "BenchNode", "NodeShell", "Configuration", "NearbyCore", "NearbyEngine",
                "NearbyLinux", "Telemetry",
            ],
            path: "Benchmarks/Ingest", swiftSettings: settings),
        // Resources, streams and invitations between programs, for Benchmarks/run.sh.
        .executableTarget(
            name: "session-bench", dependencies: ["Nearby", "NearbyCore", "NearbyLinux"],
            path: "Benchmarks/Session", swiftSettings: settings),
        // Whole agents by the hundred in one process, for Benchmarks/run.sh.
        .executableTarget(
            name: "crowd",
            dependencies: [
                "AgentComposition", "Configuration", "NearbyCore", "NearbyDTLS", "NearbyEngine",
                "NearbyLinux", "NodeShell", "Sampling", "Telemetry",
            ],
            path: "Benchmarks/Crowd", swiftSettings: settings),
        // Commits and queries of a store with ten million readings, for Benchmarks/run.sh.
        .executableTarget(
            name: "store-bench", dependencies: ["NearbyCore", "Telemetry", "Collector", "Store"],
            path: "Benchmarks/Store", swiftSettings: settings),
        // The page of a thousand nodes without the network behind it, for Benchmarks/run.sh.
        .executableTarget(
            name: "page-bench",
            dependencies: [
                "Collector", "CollectorConfiguration", "Fleet", "FleetPage", "NearbyCore", "Store",
                "Telemetry",
            ],
            path: "Benchmarks/Pages", swiftSettings: settings),
        // Random worlds with random faults, in release: deploy/test.sh runs hundreds of seeds.
        .executableTarget(
            name: "simulate", dependencies: ["NearbySimulator", "FaultRuns", "NearbyCore"],
            path: "Tests/Simulate", swiftSettings: settings),
        // An agent that writes down what it measures, for Tests/soak.sh.
        .executableTarget(
            name: "soak-agent",
            dependencies: ["NodeShell", "Configuration", "NearbyCore", "NearbyLinux", "Telemetry"],
            path: "Tests/Soak", swiftSettings: settings),
        // A member and an outsider that attack, for Tests/Hostile/run.sh.
        .executableTarget(
            name: "rogue",
            dependencies: [
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyDTLS", "NearbyLinux",
                "Telemetry", "Configuration",
            ],
            path: "Tests/Hostile/Rogue", swiftSettings: settings),
        // Golden vectors, and the oracle of windows.
        .target(name: "VectorFile", path: "Tests/VectorFile", swiftSettings: settings),
        .target(
            name: "SlowStatistics", dependencies: ["Telemetry", "Collector"],
            path: "Tests/SlowStatistics", swiftSettings: settings),
        tests(of: "NearbyCore"),
        tests(of: "NearbyWire", ["NearbyCore", "VectorFile"]),
        tests(of: "NearbyGroups", ["NearbyCore", "NearbyWire", "VectorFile"]),
        .testTarget(
            name: "NearbyReadingsTests", dependencies: ["NearbyReadings", "Nearby", "Telemetry"],
            swiftSettings: settings),
        tests(
            of: "Nearby",
            [
                "NearbyCore", "NearbyWire", "NearbyGroups", "NearbyCertificates", "NearbyLinux",
                "NearbyTransfers",
            ]),
        tests(
            of: "NearbyTransfers", ["NearbyCore", "NearbyWire", "NearbyEngine", "VectorFile"]),
        tests(of: "FileTransfer", ["Nearby", "NearbyCore"]),
        tests(of: "NearbyEngine", ["NearbyCore", "NearbyWire", "NearbySimulator"]),
        // The clock that OpenSSL reads, and files that fail.
        .target(name: "CVirtualClock", path: "Tests/CVirtualClock"),
        .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk"),
        .target(
            name: "FailingFiles", dependencies: ["DurableFiles"], path: "Tests/FailingFiles",
            swiftSettings: settings),
        tests(
            of: "NearbyDTLS",
            [
                "NearbyCore", "NearbyEngine", "NearbyKeys", "DurableFiles", "FailingFiles",
                "COpenSSL", "CVirtualClock",
            ]),
        tests(of: "DurableFiles", ["FailingFiles"]),
        tests(of: "NearbyLinux", ["NearbyCore", "NearbyWire", "NearbyEngine", "CLinux"]),
        tests(
            of: "NearbyAvahi", ["NearbyCore", "NearbyWire", "NearbyLinux", "CAvahi", "VectorFile"]),
        tests(of: "NearbyBluetooth", ["NearbyCore", "NearbyWire", "VectorFile"]),
        tests(of: "NearbySimulator", ["FaultRuns", "NearbyCore", "NearbyWire", "NearbyEngine"]),
        tests(of: "Telemetry", ["NearbyCore", "VectorFile"]),
        tests(
            of: "Spool",
            ["NearbyCore", "Telemetry", "DurableFiles", "FailingFiles", "VectorFile"]),
        tests(of: "Sampling", ["NearbyCore", "Telemetry"]),
        tests(
            of: "Sensors",
            [
                "NearbyCore", "NearbyLinux", "Telemetry", "Sampling", "DurableFiles",
                "FailingFiles", "VectorFile",
            ]),
        tests(of: "Configuration", ["CollectorConfiguration", "Telemetry"]),
        tests(of: "Boards", ["Configuration"]),
        tests(
            of: "NodeShell",
            [
                "AgentComposition", "Boards", "Configuration", "FailingFiles", "NearbyCore",
                "NearbyLinux", "Sampling", "Sensors", "Telemetry",
            ]),
        tests(of: "Collector", ["NearbyCore", "Telemetry", "SlowStatistics"]),
        tests(
            of: "AgentComposition",
            [
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbySimulator", "Sampling",
                "Telemetry",
            ]),
        tests(
            of: "CollectorComposition",
            [
                "NearbyCore", "NearbyWire", "NearbyEngine", "NearbySimulator", "Collector",
                "Telemetry",
            ]),
        // What the tests kill while it writes.
        .executableTarget(
            name: "store-writer", dependencies: ["NearbyCore", "Telemetry", "Collector", "Store"],
            path: "Tests/StoreWriter", swiftSettings: settings),
        tests(
            of: "Store",
            [
                "NearbyCore", "Telemetry", "Collector", "CSQLite", "DurableFiles", "FailingFiles",
                "SlowStatistics", "CFaultyDisk", "store-writer", "VectorFile", "Spool",
            ]),
        tests(of: "Outputs", ["NearbyCore", "Telemetry", "Fleet"]),
        .testTarget(
            name: "OutputFilesTests",
            dependencies: ["OutputFiles", "Outputs", "Fleet", "NearbyCore", "Telemetry"],
            swiftSettings: settings),
        .testTarget(
            name: "OutputShellTests",
            dependencies: [
                "OutputShell", "Store", "Collector", "CollectorConfiguration", "Fleet",
                "NearbyCore", "Telemetry",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CollectorShellTests",
            dependencies: [
                "CollectorShell", "Collector", "CollectorConfiguration", "Fleet", "NearbyCore",
                "NearbyLinux", "Telemetry",
            ],
            swiftSettings: settings),
        tests(of: "Alarms", ["NearbyCore", "Telemetry", "Collector", "Fleet"]),
        tests(of: "Survey", ["NearbyCore", "NearbySimulator", "Fleet", "Telemetry"]),
        .testTarget(
            name: "FleetPageTests",
            dependencies: [
                "FleetPage", "Fleet", "NearbyCore", "Telemetry", "CollectorConfiguration", "Store",
                "Collector",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FleetTests", dependencies: ["Fleet", "Collector", "NearbyCore", "Telemetry"],
            swiftSettings: settings),
        .testTarget(
            name: "FleetTerminalTests",
            dependencies: ["FleetTerminal", "Fleet", "NearbyCore", "Telemetry"],
            swiftSettings: settings),
        // These run the program itself, below temporary folders.
        tests(
            of: "Setup",
            [
                "rivulet", "Configuration", "NearbyCore", "NearbyLinux", "DurableFiles",
                "FailingFiles", "VectorFile",
            ]),
        .testTarget(
            name: "MultipeerConnectivityTests",
            dependencies: ["MultipeerConnectivity", "NearbyCore", "Nearby", "NearbyTransfers"],
            swiftSettings: settings),
        .testTarget(name: "TidyTests", swiftSettings: settings),
    ] + fuzzing + examples
)

/// With RIVULET_TESTS, a list of test targets, or single files of them as TARGET/FILE: they and what they stand on,
/// and nothing else. An emulated processor has no time for more (deploy/test-arm64.sh).
if let names = Context.environment["RIVULET_TESTS"] {
    var wanted: Set<String> = []
    var files: [String: [String]] = [:]
    for name in names.split(separator: " ").map({ $0.split(separator: "/").map(String.init) }) {
        wanted.insert(name[0])
        if name.count > 1 { files[name[0], default: []].append(name[1]) }
    }
    var found = 0
    while found < wanted.count {
        found = wanted.count
        for target in package.targets where wanted.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { wanted.insert(name) }
        }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    for target in package.targets where files[target.name] != nil {
        target.sources = files[target.name]
        for name in files[target.name] ?? [] {
            let file =
                "\(Context.packageDirectory)/\(target.path ?? "Tests/\(target.name)")/\(name)"
            precondition(access(file, F_OK) == 0, "RIVULET_TESTS: there is no \(file)")
        }
    }
    package.products = []
}
