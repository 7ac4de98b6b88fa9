# Files between two hosts: whole, with any name, beside others of that name; and what is said when it cannot be.
. Tests/Network/files.sh
host a b c
lan 1 a b c
file data.bin 20
receive b
sending a plain "$LAB/data.bin" --to b
must "it is sent" ends plain 0 'data.bin sent to b: 20.0 MB'
must "it arrived" arrived data.bin "$LAB/in_b/data.bin"
must "the receiver says where" grep -qx "$LAB/in_b/data.bin" "$LAB/receive_b.out"
must "for others as ours" [ "$(stat -c %a "$LAB/in_b/data.bin")" = "$(printf %o $((0666 & ~$(umask))))" ]

# A name that is taken gets a number; names never leave the folder.
sending a again "$LAB/data.bin" --to b
must "once more" ends again 0 'stored there as data \(2\).bin'
must "beside the other" arrived data.bin "$LAB/in_b/data (2).bin"
echo small >"$LAB/small"
for name in ../../escaped /etc/escaped '..' '.profile' '-rf' $'a\e[2Jb\nc' 'C:\x\escaped'; do
    sending a hostile "$LAB/small" --to b --as "$name"
    must "as $name" ends hostile 0 'sent to b'
done
must "nine files, all in the folder" whole b 9
must "none elsewhere" [ -z "$(find / -xdev -name 'escaped*' -not -path "$LAB/in_b/*" -newer "$LAB/small" 2>/dev/null | head -1)" ]
must "nothing hidden, no option, no control characters" \
    [ -z "$(find "$LAB/in_b" -maxdepth 1 -type f | grep -P '/[.-][^/]*$|[\x00-\x1f]')" ]
: >"$LAB/empty"
sending a empty "$LAB/empty" --to b
must "an empty file" ends empty 0 'empty sent to b: 0 B'
must "is one there" [ -f "$LAB/in_b/empty" ]

# Who is meant.
sending a typo "$LAB/small" --to bb --wait 15s
must "a near name is offered" ends typo 69 'nobody called bb receives files nearby; did you mean b\?'
receive a
sending b there "$LAB/small" --to a
must "the other way" ends there 0 'sent to a'
stop "$receive_a" INT
start receive_second c env HOME="$LAB/home_second" "$BIN/rivulet" receive --into "$LAB" --name b "${SERVICE[@]}"
must "another b" until_true 30 grep -qs "^receiving as" "$LAB/receive_second.err"
sleep 1
# Who is not in sight yet cannot be counted.
both_are_seen() { sending a two "$LAB/small" --to b; ends two 64 '2 receivers are called b; give the PeerID'; }
must "of two, which" until_true 40 both_are_seen
id=$(sed -n 's/^receiving as b (\(.*\)) into.*/\1/p' "$LAB/receive_b.err")
must "both are named" grep -q "$id" "$LAB/two.err"
sending a one "$LAB/small" --to "$id" --as chosen
must "by PeerID" ends one 0 'chosen sent to b'
must "that one" [ -f "$LAB/in_b/chosen" ]
stop "$receive_second"
stop "$receive_b" INT
must "Ctrl-C ends it as usual" [ "$(find "$LAB/in_b" -name .rivulet-partial)" = "" ]

# What cannot be read or written.
ended() { local status=0 wanted=$1 pattern=$2; shift 2; "$@" >"$LAB/said" 2>&1 || status=$?
    [ $status = "$wanted" ] && grep -qE -- "$pattern" "$LAB/said" || { echo "status $status"; cat "$LAB/said"; return 1; }; }
send=(in_host a env HOME="$LAB/home_a" "$BIN/rivulet" send "${SERVICE[@]}" --to b)
must "no file" ended 66 "^$LAB/none: No such file" "${send[@]}" "$LAB/none"
must "a folder" ended 66 "is a folder; pack it with" "${send[@]}" "$LAB"
must "no folder" ended 66 "No such file or directory; make it" in_host b "$BIN/rivulet" receive "${SERVICE[@]}" --into "$LAB/none"
chmod 755 "$LAB"
chmod 600 "$LAB/small"
mkdir -m 755 "$LAB/others"
must "a file of others" ended 77 "Permission denied" \
    in_host a setpriv --reuid=65534 --clear-groups env HOME=/nonexistent "$BIN/rivulet" send "${SERVICE[@]}" --to b "$LAB/small"
must "a folder of others" ended 77 "files cannot be put there" \
    in_host b setpriv --reuid=65534 --clear-groups env HOME=/nonexistent "$BIN/rivulet" receive "${SERVICE[@]}" --into "$LAB/others"
must "nobody there" ended 69 "nobody called b .*run .rivulet receive. there" "${send[@]}" "$LAB/small" --wait 2s

# Only from some, only once, in place of what is there.
receive b --from c --once --overwrite
sending a declined "$LAB/small" --to b
must "others are declined" ends declined 69 'b declined the invitation'
echo new >"$LAB/chosen"
start accepted a env HOME="$LAB/home_c" "$BIN/rivulet" send "${SERVICE[@]}" --name c "$LAB/chosen" --to b
must "c is not" ends accepted 0 'chosen sent to b'
must "once" ends receive_b 0 "$LAB/in_b/chosen"
must "overwritten" arrived chosen "$LAB/in_b/chosen"
