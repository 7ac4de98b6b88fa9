import Glibc

/// Keeps the network's secret and the keys of identity and channels out of core dumps.
public enum CoreDumps {
    /// No core files, and where the kernel pipes dumps to a program that takes them all the same,
    /// none of our memory in them (core(5): coredump_filter). Children inherit both.
    ///
    /// Only the soft limit: `prlimit --core=unlimited --pid` and a number written to the filter
    /// undo it for somebody who debugs. The process stays dumpable (prctl(2)), because otherwise
    /// its folder in /proc would belong to root.
    public static func withholdMemory() {
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var limit = rlimit()
        if getrlimit(core, &limit) == 0 {
            limit.rlim_cur = 0
            setrlimit(core, &limit)
        }
        let filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard filter >= 0 else { return }
        write(filter, "0", 1)
        close(filter)
    }
}
