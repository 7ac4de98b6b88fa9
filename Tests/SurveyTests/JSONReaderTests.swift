import NodeShell
import Testing

@testable import Survey

struct JSONReaderTests {
    @Test func whatAProgramWritesIsRead() throws {
        let value = JSONValue.object([
            ("text", .string("a\"b\\c\u{1b}\n長")), ("number", .number(-12)), ("none", .null),
            ("yes", .flag(true)), ("empty", .object([])),
            ("list", .array([.number(1), .array([])])),
        ])
        let read = try #require(JSONReader.value(value.description))
        #expect(read.description == value.description)
        #expect(read["text"].string == "a\"b\\c\u{1b}\n長")
        #expect(read["list"].items.first?.integer == 1)
        #expect(read["missing"]["of"].string == nil)
    }

    @Test func spaceAndEscapesAreAsTheStandardHasThem() throws {
        let text = " { \"a\" : [ 1 , \"\\u00f6\\/\\b\\f\\n\\r\\t\" ]\r\n,\t\"b\":false } "
        let read = try #require(JSONReader.value(text))
        #expect(read["a"].items.last?.string == "\u{f6}/\u{8}\u{c}\n\r\t")
    }

    @Test func numbersThatAreNotWholeOrTooLongAreNoIntegers() {
        for text in ["99999999999999999999", "1.5", "-2e3"] {
            #expect(JSONReader.value(text) != nil)
            #expect(JSONReader.value(text)?.integer == nil)
        }
    }

    @Test(arguments: [
        "", "{", "}", "[1,]", "{\"a\"}", "{\"a\":}", "\"open", "\"\\u12\"", "\"\\ud800\"",
        "\"\\x\"", "nul",
        "1 2", "--1", "[1", "{\"a\":1,}", "unknown request",
    ]) func whatIsNoneIsRefused(text: String) {
        #expect(JSONReader.value(text) == nil)
    }

    @Test func itIsAsDeepAsItNeedsToBe() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(JSONReader.value(deep) == nil)
        #expect(JSONReader.value("[[[[[[[[]]]]]]]]") != nil)
    }

    /// Cut off anywhere, or with any byte another, it comes back.
    @Test func noTextTraps() throws {
        let text = Array(Fixtures.status().description.utf8)
        for index in text.indices {
            _ = JSONReader.value(String(decoding: text[..<index], as: UTF8.self))
        }
        for index in stride(from: 0, to: text.count, by: 7) {
            var other = text
            other[index] = ~other[index]
            _ = try? NetworkMap(status: String(decoding: other, as: UTF8.self))
        }
    }
}
