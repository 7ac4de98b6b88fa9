import ArgumentParser
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

/// Which configuration a command goes by: the one given, else this machine's own.
struct ConfigurationFile: ParsableArguments {
    @Option(help: "The configuration file; otherwise /etc/rivulet/config.yaml.")
    var config: String?

    /// The one given, or this machine's if there is one.
    var path: String? {
        config ?? (access(Settings.standardPath, F_OK) == 0 ? Settings.standardPath : nil)
    }

    /// The settings, or every mistake in them.
    func settings() throws -> Settings { try loaded(try required()) }

    /// What the file says of the places where a node keeps things, whatever else is wrong in it.
    func paths(orGive other: String? = nil) throws -> (paths: ConfiguredPaths, file: String) {
        let path = try required(orGive: other)
        do {
            return (try ConfiguredPaths.load(path), path)
        } catch {
            throw Failure([error])
        }
    }

    /// - Parameter other: what could be given in its place.
    func required(orGive other: String? = nil) throws -> String {
        if let path { return path }
        let code = errno
        let ways = ["--config FILE", other].compactMap { $0 }.joined(separator: " or ")
        guard code == ENOENT || code == ENOTDIR else {
            throw Failure(
                "\(Settings.standardPath): \(String(cString: strerror(code))); run this as the "
                    + "node's user or with sudo, or give \(ways)", ExitStatus(code: code))
        }
        throw Failure(
            "there is no \(Settings.standardPath) on this machine; \(Settings.makingAdvice), or "
                + "give \(ways)", .noInput)
    }
}

/// The socket of a node, for commands that ask one.
struct NodeSocket: ParsableArguments {
    @Option(help: "The node's control socket; otherwise as configured.") var socket: String?
    @OptionGroup var file: ConfigurationFile

    /// A connection to the first node that answers; one that was started just now may take a
    /// moment.
    func query() throws -> StatusQuery {
        let paths = try candidates()
        let deadline = MonotonicClock.now() + Self.patience
        while true {
            do throws(StartError) {
                return try StatusQuery(anyOf: paths)
            } catch {
                guard error.status == .unavailable, MonotonicClock.now() < deadline else {
                    throw Failure(error)
                }
            }
            usleep(50_000)
        }
    }

    private static let patience: Duration = .seconds(3)

    /// The one given; else the configured one, and where a node goes that may not use that; without
    /// a configuration the usual one.
    func candidates() throws -> [String] {
        if let socket { return [socket] }
        guard file.path != nil else { return [Settings.standardControl] }
        return try file.paths().paths.controls
    }
}
