import NearbyCore

/// What agents and collectors add to what each node says of itself.
package struct StatusAdditions {
    /// A line for people, and further ones.
    package var summary: (() -> String)?
    package var lines: (() -> [String])?
    /// Members of the JSON object.
    package var details: (() -> [(String, JSONValue)])?
    /// Nodes that were there before this start, the last seen first, of those that are asked for.
    package var formerNodes: (((PeerID) -> Bool) -> [FormerNode])?
}

/// A node that is known from before this start only, as it is shown.
package struct FormerNode {
    let row: NodeTable.Row
    let member: JSONValue

    package init(row: NodeTable.Row, member: JSONValue) {
        self.row = row
        self.member = member
    }
}
