import NearbyCore
import NearbyWire
import Testing

@testable import Nearby
@testable import NearbyTransfers

extension LoopbackTests {
    private func connected() throws -> (DeskWorld, group: UInt16) {
        let world = try DeskWorld()
        world.open()
        world.begin()
        world.connect()
        return (world, try #require(world.group()))
    }

    // MARK: Streams that end before they are read

    /// One packet has all of it, so it has ended before anybody can read.
    @Test(arguments: [true, false])
    func streamsThatEndBeforeTheyAreReadMakeRoomForMore(isRead: Bool) async throws {
        let (world, group) = try connected()
        defer { world.stop() }
        for number in 0..<UInt64(3 * Limits.streamsMax) {
            world.tell(
                .open(number: number, group: group, name: "s"),
                .data(.init(.stream, number), offset: 0, [1, 2, 3, 4, 5], isLast: true))
            let transfers = try #require(world.transfers())
            let pipe = try #require(transfers.read.values.first, "stream \(number)")
            let streams = await world.takeStreams()
            try #require(streams.count == 1, "stream \(number)")
            if isRead {
                #expect(try streams[0].readNow(upTo: 2) == [1, 2])
                world.desk.read(pipe, world.now)
                #expect(try streams[0].readNow(upTo: 9) == [3, 4, 5])
                #expect(try streams[0].readNow(upTo: 9) == nil)
            } else {
                streams[0].reset()
            }
            world.desk.read(pipe, world.now)
            #expect(transfers.read.isEmpty && transfers.sessions.isEmpty)
        }
        let streams = world.transfers()?.machine.incomingStreams
        #expect(streams?.count == 0 && streams?.heldByteCount == 0)
    }

    /// Otherwise nothing would bound what waits for a program that does not read.
    @Test func whatHasEndedAndIsNotReadCountsAsOpen() async throws {
        let (world, group) = try connected()
        defer { world.stop() }
        for number in 0...UInt64(Limits.streamsMax) {
            world.tell(
                .open(number: number, group: group, name: "s"),
                .data(.init(.stream, number), offset: 0, [1], isLast: true))
        }
        let streams = await world.takeStreams()
        #expect(streams.count == Limits.streamsMax)
        #expect(world.transfers()?.machine.incomingStreams.heldByteCount == Limits.streamsMax)
        #expect(world.station.drops[.transferTableFull] > 0)
    }

    @Test func aStreamThatHasEndedOutlastsItsMember() async throws {
        let (world, group) = try connected()
        defer { world.stop() }
        world.tell(
            .open(number: 0, group: group, name: "whole"),
            .data(.init(.stream, 0), offset: 0, [1, 2], isLast: true),
            .open(number: 1, group: group, name: "half"),
            .data(.init(.stream, 1), offset: 0, [3], isLast: false))
        let streams = await world.takeStreams()
        try #require(streams.count == 2)
        world.leave()
        #expect(world.transfers()?.read.isEmpty == true)
        #expect(world.transfers()?.machine.incomingStreams.heldByteCount == 0)
        #expect(try streams[0].readNow(upTo: 9) == [1, 2])
        #expect(try streams[0].readNow(upTo: 9) == nil)
        #expect(try streams[1].readNow(upTo: 9) == [3])
        #expect(throws: NearbyError.self) { try streams[1].readNow(upTo: 9) }
    }

    // MARK: Before the session is connected

    @Test func aStreamThatComesBeforeItsSessionIsConnectedLosesNothing() async throws {
        let world = try DeskWorld()
        defer { world.stop() }
        world.open()
        world.begin()
        let group = try #require(world.group())
        world.tell(
            .open(number: 0, group: group, name: "early"),
            .data(.init(.stream, 0), offset: 0, [1, 2, 3], isLast: false))
        world.tell(
            .data(.init(.stream, 0), offset: 3, [4], isLast: true),
            .open(number: 1, group: group, name: "open"),
            .data(.init(.stream, 1), offset: 0, [5], isLast: false))
        #expect(await world.takeStreams().isEmpty)
        world.connect()
        let streams = await world.takeStreams()
        try #require(streams.count == 2)
        #expect(try streams[0].readNow(upTo: 9) == [1, 2, 3, 4])
        #expect(try streams[0].readNow(upTo: 9) == nil)
        world.tell(.data(.init(.stream, 1), offset: 1, [6], isLast: true))
        #expect(try streams[1].readNow(upTo: 9) == [5, 6])
        #expect(world.transfers()?.early.isEmpty == true)
    }

    /// A person looks at certificates for as long as it takes.
    @Test func whatBeginsAndEndsBeforeItsSessionIsConnectedIsForgotten() async throws {
        let world = try DeskWorld()
        defer { world.stop() }
        world.open()
        world.begin()
        let group = try #require(world.group())
        let offer = ResourceOffer(
            name: "f", group: group, byteCount: 5, key: [UInt8](repeating: 1, count: 16))
        for number in 0..<UInt64(5_000) {
            world.tell(
                .open(number: number, group: group, name: "s"),
                .offer(number: number, offer))
            #expect(world.transfers()?.early.count == 2)
            world.tell(
                .reset(.init(.stream, number), .cancelled, finalSize: 0),
                .reset(.init(.resource, number), .cancelled, finalSize: 0))
            #expect(world.transfers()?.early.isEmpty == true)
        }
        #expect(world.transfers()?.read.isEmpty == true)
        world.connect()
        #expect(await world.takeStreams().isEmpty)
    }

    /// Streams that were empty take no place any more where they are counted otherwise.
    @Test func whatComesBeforeItsSessionIsConnectedIsBounded() async throws {
        let world = try DeskWorld()
        defer { world.stop() }
        world.open()
        world.begin()
        let group = try #require(world.group())
        for number in 0..<UInt64(5_000) {
            world.tell(
                .open(number: number, group: group, name: "s"),
                .data(.init(.stream, number), offset: 0, [], isLast: true))
        }
        let most = Limits.earlyTransfersMax
        #expect(world.transfers()?.early.count == most)
        #expect(world.station.drops[.transferTableFull] == UInt64(5_000 - most))
        world.leave()
        #expect(world.transfers()?.early.isEmpty == true)
    }

    // MARK: Peers that nobody has to do with

    @Test func packetsStayNumberedWhileNobodyHasToDoWithThePeer() async throws {
        let (world, group) = try connected()
        defer { world.stop() }
        let bytes = [UInt8](repeating: 1, count: 900)
        world.tell(
            .open(number: 0, group: group, name: "s"),
            .data(.init(.stream, 0), offset: 0, bytes[...], isLast: false))
        let transfers = try #require(world.transfers())
        world.leaveAll()
        world.desk.tidy(world.now)
        #expect(world.transfers() === transfers)
        #expect(transfers.read.isEmpty)
        // What is still on its way is known, and nothing of it is kept.
        world.tell(
            .data(.init(.stream, 0), offset: 900, bytes[...], isLast: false),
            .data(.init(.stream, 1), offset: 0, bytes[...], isLast: false))
        #expect(transfers.machine.incomingStreams.heldByteCount == 0)
        // Without a channel as well.
        world.close()
        world.desk.tidy(world.now)
        world.open()
        world.begin()
        world.connect()
        let again = try #require(world.group())
        world.tell(.open(number: 2, group: again, name: "s"))
        #expect(world.transfers() === transfers)
        #expect(await world.takeStreams().count == 2)
        #expect(world.station.drops[.transferDuplicate] == 0)
        // Another run numbers its packets anew.
        world.close()
        world.open(run: 2)
        world.restartPackets()
        world.tell(.ping)
        #expect(world.station.drops[.transferDuplicate] == 0)
    }

    @Test func ofManyPeersThatAreGoneTheLatestAreRemembered() throws {
        let world = try DeskWorld()
        defer { world.stop() }
        for index in 0..<Limits.idleTransfersMax + 50 {
            let peer = DeskWorld.peer(index)
            world.open(peer)
            world.begin(with: peer)
            world.tell(.ping, by: peer)
            world.leave(peer)
            world.desk.tidy(world.now)
            world.close(peer)
            world.desk.tidy(world.now)
            world.wait(.seconds(1))
        }
        #expect(world.desk.peers.count == Limits.idleTransfersMax)
        #expect(world.transfers(with: DeskWorld.peer(49)) == nil)
        #expect(world.transfers(with: DeskWorld.peer(50)) != nil)
    }
}
