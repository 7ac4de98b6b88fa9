import Testing

@testable import Sensors

struct IIOScanTests {
    @Test(
        arguments: [
            // MCP3208, BMI160, MPU6050, time stamp, quaternion: as their drivers say it.
            ("be:u12/16>>0", [0x0A, 0xBC], 0x0ABC), ("le:s16/16>>0", [0xFE, 0xFF], -2),
            ("be:s16/16>>0", [0xFF, 0x38], -200), ("le:s12/16>>4", [0xF0, 0xFF], -1),
            ("le:u12/16>>4", [0xF0, 0xFF], 4_095),
            ("be:u24/32>>8", [0x12, 0x34, 0x56, 0xFF], 0x123456),
            ("le:s24/32>>0", [0xFF, 0xFF, 0x7F, 0xAA], 0x7FFFFF), ("be:s8/8", [0x80], -128),
            ("le:s64/64>>0", [1, 0, 0, 0, 0, 0, 0, 0x80], Int64.min + 1),
            ("le:s32/32X4>>0", [1, 0, 0, 0], 1), ("be:u1/8>>7", [0x80], 1),
        ] as [(String, [UInt8], Int64)])
    func numbersAreTakenOutOfTheirBytes(
        _ text: String, _ bytes: [UInt8], _ expected: Int64
    ) throws {
        let type = try #require(IIOScanType(parsing: text))
        #expect(type.value(bytes) == expected)
    }

    @Test func anUnsignedNumberThatDoesNotFitIsNone() throws {
        let type = try #require(IIOScanType(parsing: "le:u64/64>>0"))
        #expect(type.value([UInt8](repeating: 0xFF, count: 8)) == nil)
        #expect(type.value([0, 0, 0, 0, 0, 0, 0, 0x7F]) == 0x7F << 56)
    }

    @Test(arguments: [
        "", "le", "le:", "le:s", "le:s12", "le:s12/", "le:s12/15>>0", "xe:s12/16>>4",
        "le:x12/16>>4", "le:s12/16>>5", "le:s0/16", "le:s17/16", "le:s12/16>>", "le:s12/16X>>4",
        "le:s12/16X0>>4", "le:s12/16X17", "le:s12/16>>4 ", "le:s-1/16", "le:s9999/16",
        "le:s12/128", "le:s١٢/16",
    ])
    func otherTypesAreRefused(_ text: String) {
        #expect(IIOScanType(parsing: text) == nil)
    }

    @Test func elementsLieAtMultiplesOfTheirSizes() throws {
        func layout(_ texts: String...) throws -> IIOScanLayout {
            IIOScanLayout(try texts.map { try #require(IIOScanType(parsing: $0)) })
        }
        // As drivers/iio/industrialio-buffer.c computes them.
        let adc = try layout("be:u12/16", "be:u12/16", "be:u12/16", "le:s64/64")
        #expect(adc.elements.map(\.offset) == [0, 2, 4, 8])
        #expect(adc.byteCount == 16)
        let mixed = try layout("le:u8/8", "le:s32/32", "le:s16/16")
        #expect(mixed.elements.map(\.offset) == [0, 4, 8])
        #expect(mixed.byteCount == 12)
        let rotation = try layout("le:s16/32X4", "le:s64/64")
        #expect(rotation.elements.map(\.offset) == [0, 16])
        #expect(rotation.byteCount == 32)
        let bytes = [UInt8](0..<32)
        #expect(rotation.values(bytes[...])[0] == [0x0100, 0x0504, 0x0908, 0x0D0C])
        #expect(rotation.values(bytes[..<10])[0] == [0x0100, 0x0504, nil, nil])
        #expect(IIOScanLayout([]).byteCount == 0)
    }
}
