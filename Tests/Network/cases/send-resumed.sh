# Transfers that break off go on where they ended: Ctrl-C, kill -9 of the sender, of the receiver, a file that
# changes, a receiver that stands still.
. Tests/Network/files.sh
host a b
lan 1 a b
slow a 1 25
file data.bin 30
receive b

# resumed VARIABLE FROM: it went on, and sent less than a file whole.
resumed() { grep -qE 'are there already' "$LAB/$1.err"; }

sending a interrupted "$LAB/data.bin" --to b
must "under way" under_way b 4000000
stop "$interrupted" INT
must "the receiver keeps it" until_true 30 grep -q 'data.bin: a is gone; .* are kept' "$LAB/receive_b.err"
must "under no name" [ ! -e "$LAB/in_b/data.bin" ]
must "and says what it is" grep -q "^name: data.bin$" "$LAB"/in_b/.rivulet-partial/*.about

sending a killed "$LAB/data.bin" --to b
must "the same goes on" under_way b 4000000
must "from there" resumed killed
stop "$killed" KILL
sending a restarted "$LAB/data.bin" --to b
must "after kill -9 too" under_way b 4000000
must "from there again" resumed restarted

# Now the receiver, while the sender waits.
stop "$receive_b" KILL
receive b
must "the sender finds it again" ends restarted 0 'data.bin sent to b'
must "it has noticed" grep -q 'waiting for it to come back' "$LAB/restarted.err"
must "byte for byte" arrived data.bin "$LAB/in_b/data.bin"
must "nothing is left" whole b 1

# A file that is written to while it is sent, and one that is cut short.
file moving.bin 20
sending a changed "$LAB/moving.bin" --to b
must "under way" under_way b 2000000
printf x | dd of="$LAB/moving.bin" conv=notrunc status=none
must "a change is noticed" ends changed 75 'moving.bin was changed while it was sent'
sending a cut "$LAB/moving.bin" --to b
must "under way" under_way b 2000000
: >"$LAB/moving.bin"
must "so is an end" ends cut 75 'moving.bin was changed while it was sent'
must "neither is kept" [ ! -e "$LAB/in_b/moving.bin" ]
file moving.bin 20
sending a vanished "$LAB/moving.bin" --to b
must "under way" under_way b 2000000
rm "$LAB/moving.bin"
must "one that was removed still arrives" ends vanished 0 'moving.bin sent to b'

# Accepted, and then nothing.
sending a silent "$LAB/data.bin" --to b --as silent.bin --wait 3s
must "under way" under_way b 2000000
kill -STOP "$receive_b"
must "it is not waited for without end" ends silent 75 "b is gone|has not gone on|could not be reached"
kill -CONT "$receive_b"
sending a woken "$LAB/data.bin" --to b --as silent.bin
must "and goes on" ends woken 0 'silent.bin sent to b'
must "byte for byte" arrived data.bin "$LAB/in_b/silent.bin"

# Another one of the same name takes its place: nothing of the file goes there by itself.
sending a meant "$LAB/data.bin" --to b --as meant.bin --wait 25s
must "under way" under_way b 2000000
stop "$receive_b" KILL
mkdir "$LAB/in_other"
start other b env HOME="$LAB/home_other" "$BIN/rivulet" receive --into "$LAB/in_other" --name b "${SERVICE[@]}"
must "another b" until_true 30 grep -qs "^receiving as" "$LAB/other.err"
must "is told of" ends meant 75 'is gone. Another one of this name has come'
must "has got nothing" [ -z "$(find "$LAB/in_other" -type f)" ]
sending a again "$LAB/data.bin" --to b --as meant.bin
must "and gets it when asked for again" ends again 0 'meant.bin sent to b'
must "whole" arrived data.bin "$LAB/in_other/meant.bin"
