import NearbyCore
import Testing

struct PathTextTests {
    @Test(arguments: [
        ("/a/b", "/a"), ("/a", "/"), ("a/b", "a"), ("a/b/", "a/b"), ("a", nil), ("", nil),
        // To Swift the last of these slashes is another character.
        ("/a/\u{301}b", "/a"),
    ])
    func aFolderEndsBeforeTheLastSlash(path: String, folder: String?) {
        #expect(path.pathFolder == folder)
    }

    @Test(arguments: [
        ("/a/b", "b"), ("b", "b"), ("a/b/", "b"), ("//", nil), ("", nil),
        ("a/\u{301}b", "\u{301}b"),
    ])
    func theLastPartIsBehindTheLastSlashThatMatters(path: String, part: String?) {
        #expect(path.lastPathPart == part)
    }
}
