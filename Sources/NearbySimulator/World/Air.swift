import NearbyCore

/// What becomes of datagrams between hosts: who is on which LAN, who hears whom, what is cut.
struct Air {
    /// Datagrams that do not arrive while it holds.
    enum Cut: Equatable {
        case lan(Int)
        case oneWay(from: Int, to: Int)
    }

    /// Ascending.
    private let lans: [[Int]]
    /// The LAN that is no wire but a field of radios.
    private let radioLAN: Int?
    var field: RadioField?
    var cuts: [Cut] = []

    init(_ world: World) {
        lans = world.lans.map { $0.sorted() }
        radioLAN = world.field == nil ? nil : world.lans.indices.last
        field = world.field
    }

    /// Who may hear what a host says to all on a LAN, with the part of it that is lost.
    func eachReceiver(of sender: Int, on lan: Int, _ body: (Int, Double) -> Void) {
        if lan == radioLAN, let field {
            for hearing in field.hearers[sender] { body(hearing.host, hearing.frameLoss) }
        } else {
            for receiver in lans[lan] where receiver != sender { body(receiver, 0) }
        }
    }

    /// The part of what one host says to another on a LAN that is lost; nil: it is not heard there.
    func loss(from sender: Int, to receiver: Int, on lan: Int) -> Double? {
        if lan == radioLAN {
            return field?.hearing(of: sender, at: receiver)?.datagramLoss
        }
        let members = lans[lan]
        // A LAN of two is looked at thousands of times a second.
        guard members.count > 2 else {
            return members.contains(sender) && members.contains(receiver) ? 0 : nil
        }
        return members.hasSorted(sender) && members.hasSorted(receiver) ? 0 : nil
    }

    func isCut(from sender: Int, to receiver: Int, on lan: Int) -> Bool {
        guard !cuts.isEmpty else { return false }
        return cuts.contains(.lan(lan)) || cuts.contains(.oneWay(from: sender, to: receiver))
    }
}

extension [Int] {
    /// Whether an ascending array has it.
    fileprivate func hasSorted(_ number: Int) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == number
    }
}
