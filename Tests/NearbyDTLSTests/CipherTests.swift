import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyDTLS

@Suite struct CipherTests {
    private let key = [UInt8](0x80...0x9f)
    private let iv: [UInt8] = bytes("07000000 4041424344454647")

    private func makeCipher() -> any FrameCipher { ChaChaCipher(key: key[...], iv: iv[...]) }

    /// RFC 8439 §2.8.2, with sequence 0 so that the nonce is the IV.
    @Test func sealsAsInTheRFC() throws {
        let vector = try Vector.read("rfc8439-2.8.2.hex")
        var frame = vector[0] + vector[1]
        makeCipher().seal(&frame, headerByteCount: vector[0].count, sequence: 0, encrypted: true)
        #expect(frame == vector[0] + vector[2] + vector[3])
        #expect(
            makeCipher().open(
                &frame, headerByteCount: vector[0].count, sequence: 0, encrypted: true))
        #expect(frame == vector[0] + vector[1])
    }

    @Test(arguments: [true, false]) func everySizeComesBack(encrypted: Bool) {
        let (sender, receiver) = (makeCipher(), makeCipher())
        for (sequence, count) in (0...130).enumerated() {
            let plain = (0..<10 + count).map { UInt8(truncatingIfNeeded: $0) }
            var frame = plain
            sender.seal(
                &frame, headerByteCount: 10, sequence: UInt64(sequence), encrypted: encrypted)
            #expect(frame.count == plain.count + frameTagByteCount)
            #expect(frame.prefix(10) == plain.prefix(10))
            if !encrypted { #expect(frame.prefix(plain.count) == plain[...]) }
            if encrypted, count > 8 { #expect(frame.prefix(plain.count) != plain[...]) }
            #expect(
                receiver.open(
                    &frame, headerByteCount: 10, sequence: UInt64(sequence), encrypted: encrypted))
            #expect(frame == plain)
        }
    }

    @Test(arguments: [true, false]) func everyFlippedBitIsNoticed(encrypted: Bool) {
        let cipher = makeCipher()
        var frame = [UInt8](repeating: 7, count: 40)
        cipher.seal(&frame, headerByteCount: 10, sequence: 5, encrypted: encrypted)
        for bit in 0..<frame.count * 8 {
            var forged = frame
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!cipher.open(&forged, headerByteCount: 10, sequence: 5, encrypted: encrypted))
        }
        #expect(cipher.open(&frame, headerByteCount: 10, sequence: 5, encrypted: encrypted))
    }

    @Test func truncatedFrameIsNotAuthentic() {
        let cipher = makeCipher()
        var frame = [UInt8](repeating: 7, count: 40)
        cipher.seal(&frame, headerByteCount: 10, sequence: 5, encrypted: true)
        for count in 0..<frame.count {
            var cut = Array(frame.prefix(count))
            #expect(!cipher.open(&cut, headerByteCount: 10, sequence: 5, encrypted: true))
        }
    }

    @Test func otherSequenceOtherHeaderOrOtherReadabilityIsNotAuthentic() {
        let cipher = makeCipher()
        var sealed = [UInt8](repeating: 7, count: 40)
        cipher.seal(&sealed, headerByteCount: 10, sequence: 1 << 40, encrypted: true)
        var frame = sealed
        #expect(!cipher.open(&frame, headerByteCount: 10, sequence: 1 << 40 + 1, encrypted: true))
        frame = sealed
        #expect(!cipher.open(&frame, headerByteCount: 11, sequence: 1 << 40, encrypted: true))
        frame = sealed
        #expect(!cipher.open(&frame, headerByteCount: 10, sequence: 1 << 40, encrypted: false))
        #expect(cipher.open(&sealed, headerByteCount: 10, sequence: 1 << 40, encrypted: true))
    }
}

@Suite struct DigestTests {
    private let cryptography = OpenSSLCryptography(identity: .makeEphemeral())

    /// FIPS 180-2 B.1 and the empty message.
    @Test func sha256() {
        #expect(
            cryptography.sha256(Array("abc".utf8))
                == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            cryptography.sha256([])
                == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    /// RFC 4231 §4.2 and §4.3.
    @Test func hmac() {
        #expect(
            cryptography.hmac(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
                == bytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        #expect(
            cryptography.hmac(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    }

    /// RFC 5869 A.3: no salt, no info; the first 32 of its 42 bytes.
    @Test func deriveKey() {
        #expect(
            cryptography.deriveKey(from: [UInt8](repeating: 0x0b, count: 22), purpose: "")
                == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
        #expect(
            cryptography.deriveKey(from: [1], purpose: "a")
                != cryptography.deriveKey(from: [1], purpose: "b"))
    }

    @Test func randomBytesDiffer() {
        #expect(cryptography.randomBytes(32).count == 32)
        #expect(cryptography.randomBytes(32) != cryptography.randomBytes(32))
        #expect(cryptography.randomBytes(0) == [])
    }

    @Test func comparisonSeesEveryByteAndTheLength() {
        #expect(cryptography.constantTimeEquals([1, 2, 3], [1, 2, 3][...]))
        #expect(!cryptography.constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!cryptography.constantTimeEquals([1, 2, 3], [1, 2]))
        #expect(cryptography.constantTimeEquals([UInt8](), [UInt8]()))
    }
}
