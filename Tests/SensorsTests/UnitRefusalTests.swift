import Glibc
import Testing

@testable import Sensors

/// Who keeps a device from a service.
struct UnitRefusalTests {
    @Test func theUnitIsToldFromTheFilesOwnPermissions() {
        #expect(UnitRefusal.advice(EPERM, isService: true)?.contains("(DeviceAllow=)") == true)
        let advice = UnitRefusal.advice(EROFS, isService: true)
        #expect(advice?.contains("(ProtectKernelTunables=)") == true)
        for code in [EPERM, EROFS] {
            #expect(
                UnitRefusal.advice(code, isService: true)?.contains("`rivulet init --devices`")
                    == true)
        }
        #expect(UnitRefusal.advice(EACCES, isService: true) == nil)
        #expect(UnitRefusal.advice(ENOENT, isService: true) == nil)
    }

    @Test func outsideAServiceNoUnitIsToBlame() {
        #expect(UnitRefusal.advice(EPERM, isService: false) == nil)
        #expect(UnitRefusal.advice(EROFS, isService: false) == nil)
    }
}
