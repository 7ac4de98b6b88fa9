# The receiver's power fails in the middle of a file, and its disk comes back as disks do: with a length and no
# bytes, with less than was there, with other bytes. What is stored in the end is the file, byte for byte.
. Tests/Network/files.sh
host a b
lan 1 a b
slow a 1 25
file data.bin 12

# power_cut COMMAND…: the receiver ends without a word, and the command does to what it had what the disk does.
power_cut() {
    stop "$receive_b" KILL
    for part in "$LAB"/in_b/.rivulet-partial/*.part; do "$@" "$part"; done
}
# The kernel had given the file its length, and wrote none of the last bytes.
unwritten() {
    local size
    size=$(stat -c %s "$1")
    truncate -s $((size - 700000)) "$1"
    truncate -s "$size" "$1"
}
shorter() { truncate -s 500001 "$1"; }
empty() { : >"$1"; }
# A block of somebody else's.
foreign() { head -c 65536 /dev/urandom | dd of="$1" bs=65536 seek=3 conv=notrunc status=none; }
# Never on the disk: the file is gone, its description is not.
gone() { rm "$1"; }

for harm in unwritten shorter empty foreign gone; do
    receive b
    sending a "first_$harm" "$LAB/data.bin" --to b --as "$harm.bin"
    must "$harm: under way" under_way b 3000000
    power_cut $harm
    must "$harm: nothing has the name of a whole file" [ ! -e "$LAB/in_b/$harm.bin" ]
    receive b
    must "$harm: the sender brings all of it" ends "first_$harm" 0 "$harm.bin"
    must "$harm: byte for byte" arrived data.bin "$LAB/in_b/$harm.bin"
    stop "$receive_b" INT
done

# The sender's power fails as well: both begin anew, and the receiver has a part that is wrong.
receive b
sending a gone_too "$LAB/data.bin" --to b --as both.bin
must "under way" under_way b 3000000
power_cut unwritten
stop "$gone_too" KILL
receive b
sending a again "$LAB/data.bin" --to b --as both.bin
must "both: all of it comes" ends again 0 'both.bin'
must "both: byte for byte" arrived data.bin "$LAB/in_b/both.bin"
must "nothing is left" whole b 6
