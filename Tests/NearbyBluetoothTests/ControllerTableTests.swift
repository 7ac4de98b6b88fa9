import NearbyCore
import Testing

@testable import NearbyBluetooth

struct ControllerTableTests {
    private func information(
        _ address: UInt64, current: ControllerSettings = []
    ) -> ControllerInformation {
        ControllerInformation(address: address, supported: FakeKernel.both, current: current)
    }

    @Test func theyAreReadInOrderAndTheFirstThatFitsIsUsed() {
        var table = ControllerTable()
        table.insert(4)
        #expect(!table.isListed, "who comes before the list is in it")
        table.list([2, 0])
        #expect(table.unread == 0)
        table.record(information(0), of: 0)
        #expect(table.unread == 2)
        table.choose(.any, acceptsClassic: false)
        #expect(table.inUse == nil, "without an address it does not fit")
        table.record(information(9, current: .powered), of: 2)
        table.choose(.any, acceptsClassic: false)
        #expect(table.inUse?.adapter.index == 2)
        #expect(table.inUse?.found == .powered)
        #expect(table.information?.address == 9)
        table.insert(1)
        table.record(information(8), of: 1)
        table.choose(.any, acceptsClassic: false)
        #expect(table.inUse?.adapter.index == 2, "it is kept while it is there")
    }

    @Test func oneThatIsRemovedTakesWithItWhatWasKnownOfIt() {
        var table = ControllerTable()
        table.list([0, 1])
        table.record(information(5), of: 0)
        table.choose(.any, acceptsClassic: false)
        table.refuseConnectable()
        let other = table.remove(1)
        #expect(!other)
        let own = table.remove(0)
        #expect(own)
        #expect(table.inUse == nil)
        #expect(table.information == nil)
        table.insert(0)
        table.record(information(5), of: 0)
        table.choose(.any, acceptsClassic: false)
        #expect(table.inUse?.refusesConnectable == false)
    }

    @Test func settingsCountOnceAControllerIsRead() {
        var table = ControllerTable()
        table.list([0])
        let unread = table.apply(.powered, to: 0)
        #expect(unread == nil)
        table.record(information(5), of: 0)
        let before = table.apply(.powered, to: 0)
        #expect(before == [])
        let again = table.apply(.lowEnergy, to: 0)
        #expect(again == .powered)
        let absent = table.apply(.powered, to: 7)
        #expect(absent == nil)
    }

    @Test func theTableIsBounded() {
        var table = ControllerTable()
        table.list(Array(0..<100))
        for index in UInt16(0)..<UInt16(Limits.bluetoothControllersMax) {
            #expect(table.unread == index)
            table.record(information(0), of: index)
        }
        #expect(table.unread == nil)
    }
}
