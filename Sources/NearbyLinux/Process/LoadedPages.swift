import CLinux

/// The pages of the program's own files, libraries included, that are mapped into it.
public enum LoadedPages {
    /// Gives back to the kernel what only the start touched: libraries that initialise themselves,
    /// the reading of the configuration. Afterwards about half as much is resident; what is touched
    /// again is mapped again, from the kernel's cache.
    public static func release() { clinux_give_back_pages() }
}
