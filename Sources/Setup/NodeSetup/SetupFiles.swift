import DurableFiles
import Glibc
import NodeShell

/// Small files and folders, made whole or not at all; what is wrong is for people.
struct SetupFiles {
    /// Whose the files of the node itself are; nil: who makes them.
    let owner: Owner?

    /// - Parameter isOfTheNode: whether it is the node's, not the machine's.
    func write(
        _ bytes: [UInt8], to path: String, permissions: UInt32, isOfTheNode: Bool = false
    ) throws(StartError) {
        do throws(FileError) {
            try AtomicFile.write(
                bytes, to: path, permissions: permissions,
                through: OwnedFiles(owner: isOfTheNode ? owner : nil))
        } catch {
            throw StartError(error)
        }
    }

    /// Nil if there is none.
    func read(_ path: String) throws(StartError) -> [UInt8]? {
        do throws(FileError) {
            return try AtomicFile.read(path, limit: 4 << 20, through: SystemFiles())
        } catch {
            throw StartError(error)
        }
    }

    /// With those above it; what is there is left as it is.
    func makeFolder(
        _ path: String, permissions: UInt32, isOfTheNode: Bool = false
    ) throws(StartError) {
        do throws(FileError) {
            try SystemFiles().makeDirectories(Places.folder(of: path), permissions: 0o755)
            try OwnedFiles(owner: isOfTheNode ? owner : nil)
                .makeDirectories(path, permissions: permissions)
        } catch {
            throw StartError(error)
        }
    }

    /// Copies what will be replaced: its name never leads to nothing. False if there is nothing.
    func keepOld(
        _ path: String, permissions: UInt32, isOfTheNode: Bool = false
    ) throws(StartError) -> Bool {
        guard let old = try read(path) else { return false }
        try write(old, to: path + ".bak", permissions: permissions, isOfTheNode: isOfTheNode)
        return true
    }

    /// Gives the node what somebody else has; false if it has it.
    func adopt(_ path: String) throws(StartError) -> Bool {
        var status = stat()
        guard let owner, lstat(path, &status) == 0, status.st_uid != owner.user else {
            return false
        }
        guard lchown(path, owner.user, owner.group) == 0 else { throw Self.fault("chown", path) }
        return true
    }

    /// Lets others look into a folder; false if they may.
    func open(_ folder: String) throws(StartError) -> Bool {
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & 0o055 != 0o055 else { return false }
        guard chmod(folder, status.st_mode & 0o7777 | 0o055) == 0 else {
            throw Self.fault("chmod", folder)
        }
        return true
    }

    private static func fault(_ operation: String, _ path: String) -> StartError {
        StartError(FileError(operation: operation, path: path, code: errno))
    }
}
