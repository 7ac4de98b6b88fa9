import NearbyCore
import Testing

@testable import NearbyBluetooth

struct AdvertisingMachineTests {
    private static let own = Advertisement(networkTag: 1, psm: 0x80, peerPrefix: 2)!

    private func counted(_ most: UInt8 = 3) -> AdvertisingMachine {
        var advertising = AdvertisingMachine(seed: 1)
        _ = advertising.handle(.counted(most), now: .zero)
        return advertising
    }

    private func on() -> AdvertisingMachine {
        var advertising = counted()
        _ = advertising.handle(.added, now: .zero)
        return advertising
    }

    /// All three numbers are lost.
    private func exhausted() -> AdvertisingMachine {
        var advertising = counted()
        for _ in 0..<3 { _ = advertising.handle(.refused(.failed), now: .zero) }
        return advertising
    }

    /// The instance that it wants to add.
    private func wanted(_ advertising: inout AdvertisingMachine, _ now: Instant) -> UInt8? {
        for output in advertising.handle(.turn(Self.own), now: now) {
            if case .send(.addAdvertising(let instance, Self.own.bytes)) = output {
                return instance
            }
        }
        return nil
    }

    private func later(_ advertising: AdvertisingMachine) -> Instant {
        advertising.nextDeadline ?? .zero
    }

    @Test func theHighestNumberIsUsed() {
        var advertising = AdvertisingMachine(seed: 1)
        #expect(advertising.isUncounted)
        #expect(wanted(&advertising, .zero) == nil)
        _ = advertising.handle(.counted(3), now: .zero)
        #expect(wanted(&advertising, .zero) == 3)
        _ = advertising.handle(.added, now: .zero)
        #expect(advertising.advertised == 3)
        #expect(wanted(&advertising, .zero) == nil)
        #expect(advertising.nextDeadline == nil)
    }

    @Test func withoutInstancesThereIsNone() {
        var advertising = counted(0)
        #expect(advertising.isUnsupported)
        #expect(wanted(&advertising, .zero) == nil)
        _ = advertising.handle(.controllerRemoved, now: .zero)
        #expect(advertising.isUncounted, "the next controller may have some")
    }

    @Test func whoIsBusyIsAskedAgainWithTheSameNumber() {
        var advertising = counted()
        _ = advertising.handle(.refused(.busy), now: .zero)
        #expect(wanted(&advertising, .zero) == nil)
        #expect(wanted(&advertising, later(advertising)) == 3)
    }

    @Test func aNumberThatFailsIsLeftForTheNextUntilNoneIsLeft() {
        var advertising = counted()
        for number: UInt8 in [3, 2, 1] {
            #expect(wanted(&advertising, later(advertising)) == number)
            _ = advertising.handle(.refused(.failed), now: later(advertising))
        }
        #expect(advertising.isExhausted)
        #expect(wanted(&advertising, later(advertising)) == 1, "it may work after all")
        _ = advertising.handle(.freed, now: .zero)
        #expect(advertising.isUncounted)
    }

    /// Power is still to be switched off: the other numbers are lost.
    @Test func theLastNumberAdvertisesWhileItIsExhausted() {
        var advertising = exhausted()
        #expect(!advertising.isOn)
        _ = advertising.handle(.added, now: .zero)
        #expect(advertising.advertised == 1)
        #expect(advertising.isExhausted)
        _ = advertising.handle(.adapterDown, now: .zero)
        #expect(!advertising.isOn)
    }

    @Test func whatIsLostIsAddedAgainLaterAndAfterASleepAtOnce() {
        var advertising = on()
        _ = advertising.handle(.lost(instance: 2), now: .zero)
        #expect(advertising.isOn, "that was another one")
        _ = advertising.handle(.lost(instance: 3), now: .zero)
        #expect(!advertising.isOn)
        #expect(wanted(&advertising, .zero) == nil)
        #expect(wanted(&advertising, later(advertising)) == 3)
        advertising = on()
        _ = advertising.handle(.resumed, now: .zero)
        #expect(wanted(&advertising, .zero) == 3)
    }

    @Test func whoHasOurNumberKeepsIt() {
        var advertising = on()
        _ = advertising.handle(.overwritten(instance: 3), now: .zero)
        #expect(wanted(&advertising, later(advertising)) == 2)
        for _ in 0..<4 {
            for number: UInt8 in [2, 1] {
                _ = advertising.handle(.overwritten(instance: number), now: .zero)
            }
        }
        #expect(wanted(&advertising, later(advertising)) == 1, "there is no lower one")
        #expect(!advertising.isExhausted)
    }

    @Test func whoCannotAdvertiseIsAskedNoMore() {
        var advertising = on()
        _ = advertising.handle(.unsupported, now: .zero)
        #expect(advertising.isUnsupported)
        #expect(!advertising.isUncounted)
        #expect(wanted(&advertising, .zero + .seconds(3_600)) == nil)
    }
}
