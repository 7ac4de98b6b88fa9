import NearbyCore
import Testing

@testable import Outputs

struct TopicSegmentTests {
    private let one = PeerID(high: 1, low: 2)
    private let two = PeerID(high: 3, low: 4)

    @Test func whatTopicsCannotHoldIsEscapedAndComesBack() {
        for (name, segment) in [
            ("oven", "oven"), ("Küche 2", "Küche 2"), ("a/b", "a%2Fb"), ("+", "%2B"),
            ("#", "%23"),
            ("$SYS", "%24SYS"), ("100%", "100%25"), ("", "%"), ("\u{85}", "%C2%85"),
            ("a\u{0}b", "a%00b"), (String(Unicode.Scalar(0xfffe) ?? " "), "%EF%BF%BE"),
            ("%2F", "%252F"),
            ("\u{feff}x", "%EF%BB%BFx"),
        ] {
            #expect(TopicSegment.escaped(name) == segment)
            #expect(TopicSegment.name(segment) == name)
        }
        for wrong in ["a%", "%2", "%zz", "%41", "a/b", "%C3"] {
            #expect(TopicSegment.name(wrong) == nil)
        }
    }

    @Test func identifiersDifferWhereNamesDo() {
        #expect(TopicSegment.identifier("a-B_1 ü") == "a-B_5F1_20_C3_BC")
        #expect(TopicSegment.identifier("a_b") != TopicSegment.identifier("a b"))
        for name in ["", "oven", "a-B_1 ü", "_", "100%", "\u{0}/"] {
            let identifier = TopicSegment.identifier(name)
            #expect(TopicSegment.name(ofIdentifier: identifier) == name)
        }
        for wrong in ["_", "_2", "_zz", "_41", "a b", "%41", "_C3", "é"] {
            #expect(TopicSegment.name(ofIdentifier: wrong) == nil)
        }
    }

    @Test func theFirstOfTwoOfOneNameHasThePlainTopic() {
        var book = SegmentBook()
        #expect(
            book.segment(of: one, named: "oven") == .new("oven", former: nil, rival: nil))
        #expect(book.segment(of: one, named: "oven") == .same("oven"))
        let other = "oven~" + two.description.prefix(5)
        #expect(book.segment(of: two, named: "oven") == .new(other, former: nil, rival: one))
        #expect(book.segment(of: two, named: "oven") == .same(other))
        book.forget(one)
        // What it is called does not change under those who listen.
        #expect(book.segment(of: two, named: "oven") == .same(other))
    }

    @Test func evenThePeerIDsBeginCanBeTaken() {
        var book = SegmentBook()
        let twin = PeerID(high: 3, low: 5)
        _ = book.segment(of: one, named: "oven")
        let first = book.segment(of: two, named: "oven").segment
        let second = book.segment(of: twin, named: "oven").segment
        #expect(first != second && second == "oven~" + twin.description)
    }

    @Test func theBrokerRemembersWhoHasWhat() {
        var book = SegmentBook()
        book.remember(two, "oven")
        book.remember(one, "oven~aaaaa")
        book.remember(one, "bench")
        #expect(book.segment(of: one, named: "oven") == .same("oven~aaaaa"))
        #expect(book.segment(of: two, named: "oven") == .same("oven"))
    }

    @Test func aRenamedNodeLeavesItsTopics() {
        var book = SegmentBook()
        _ = book.segment(of: one, named: "oven")
        #expect(
            book.segment(of: one, named: "stove") == .new("stove", former: "oven", rival: nil))
        #expect(book.segment(of: two, named: "oven") == .new("oven", former: nil, rival: nil))
    }
}
