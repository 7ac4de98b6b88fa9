extension Board {
    /// What a board file may say, in Markdown, from the tables that decode it: boards/README.md.
    public static var reference: String {
        """
        # Board files

        One YAML file a board. It is named by the first of its `compatible` strings, which is how
        a machine finds its own without reading the others: `tr '\\0' '\\n' <
        /proc/device-tree/compatible` prints them, most specific first. `generic-pc.yaml` is for
        machines without a device tree.

        They are looked for in `boards` of the checkout that the program is in, if any, in
        `/usr/local/share/rivulet/boards`, and in `/usr/share/rivulet/boards`; `rivulet board
        --boards DIR` looks elsewhere. A mistake in a file is reported, with line and column, and
        the file is skipped. No number of a header's pin, no name of a GPIO pin and no line of a
        chip may come twice.

        A new file needs sources: device trees, data sheets, the maker's pages; and a line among
        the machines of Tests/BoardsTests/BoardFileTests.swift.

        """ + tables.map(\.reference).joined()
    }
}
