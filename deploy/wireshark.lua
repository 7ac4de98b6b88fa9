-- For Wireshark and tshark: finds Rivulet's datagrams on any UDP port, and hands the handshakes in them to the
-- dissector of DTLS. What is sealed stays sealed. Copy it to ~/.local/lib/wireshark/plugins, or
--     tshark -X lua_script:deploy/wireshark.lua -r FILE

local rivulet = Proto("rivulet", "Rivulet")
local kinds = { [0x50] = "handshake", [0x60] = "beacon", [0x61] = "answer", [0x62] = "nudge", [0x63] = "question",
    [0x64] = "reply" }
local kind = ProtoField.uint8("rivulet.kind", "Kind", base.HEX)
local attempt = ProtoField.uint32("rivulet.attempt", "Attempt of a handshake", base.HEX)
local from_server = ProtoField.bool("rivulet.from_server", "From the server")
local peer = ProtoField.bytes("rivulet.peer", "PeerID, not proved yet")
local channel = ProtoField.uint32("rivulet.channel", "Channel", base.HEX)
rivulet.fields = { kind, attempt, from_server, peer, channel }

local dtls = Dissector.get("dtls")

-- HandshakeEnvelope.swift has its bytes.
local function handshake(buffer, info, tree)
    local flags = buffer(1, 1):uint()
    local records = 6
    tree:add(from_server, buffer(1, 1), flags % 2 == 1)
    tree:add(attempt, buffer(2, 4))
    if flags % 4 >= 2 then
        tree:add(peer, buffer(6, 16))
        records = 32
    end
    if buffer:len() > records then dtls:call(buffer(records):tvb(), info, tree) end
end

-- Whether a datagram is ours, by its first byte and its length.
local function is_ours(buffer)
    if buffer:len() < 8 then return false end
    local first = buffer(0, 1):uint()
    if first == 0x50 then return buffer(1, 1):uint() < 4 end
    return kinds[first] ~= nil or (first >= 0x80 and first <= 0xbf and buffer:len() >= 24)
end

function rivulet.dissector(buffer, info, tree)
    if not is_ours(buffer) then return 0 end
    local first = buffer(0, 1):uint()
    info.cols.protocol = "Rivulet"
    info.cols.info = first >= 0x80 and "sealed" or kinds[first]
    local own = tree:add(rivulet, buffer())
    own:add(kind, buffer(0, 1))
    if first == 0x50 then
        handshake(buffer, info, own)
    elseif first >= 0x80 then
        own:add(channel, buffer(1, 4))
    end
    return buffer:len()
end

rivulet:register_heuristic("udp", function(buffer, info, tree)
    return rivulet.dissector(buffer, info, tree) > 0
end)
-- Beacons go to one port always.
DissectorTable.get("udp.port"):add(24577, rivulet)
