# A receiver whose disk is full: said beforehand where that can be known, in the middle otherwise; what came is kept.
. Tests/Network/files.sh
host a b
lan 1 a b
slow a 1 20
mkdir -p "$LAB/full"
mount -t tmpfs -o size=24m rivulet-test "$LAB/full"
ln -s "$LAB/full" "$LAB/in_b"
receive b
file large.bin 40
sending a large "$LAB/large.bin" --to b
must "there is no room" ends large 73 'b: there is no room for large.bin: 40.0 MB are needed'
must "the receiver says so" grep -q 'large.bin from a: there is no room' "$LAB/receive_b.err"
file data.bin 16
sending a full "$LAB/data.bin" --to b
must "under way" under_way b 3000000
head -c 30000000 /dev/zero >"$LAB/full/filler" 2>/dev/null
must "full in the middle" ends full 73 'b.*(cannot be written, the disk may be full|cannot write)'
must "no file of that name" [ ! -e "$LAB/full/data.bin" ]
rm "$LAB/full/filler"
sending a again "$LAB/data.bin" --to b
must "when there is room, it goes on" ends again 0 'data.bin sent to b'
must "from where it was" grep -q 'are there already' "$LAB/again.err"
must "byte for byte" arrived data.bin "$LAB/full/data.bin"
stop "$receive_b"
umount "$LAB/full"
