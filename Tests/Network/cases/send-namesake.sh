# A receiver of the same name that comes while a file is under way: the sender is told, and the first one gets it.
. Tests/Network/files.sh
host a b c
lan 1 a b c
slow a 1 15
file data.bin 40
receive b
sending a late "$LAB/data.bin" --to b
must "under way" under_way b 2000000
mkdir -p "$LAB/in_c"
start receive_c c env HOME="$LAB/home_c" "$BIN/rivulet" receive --into "$LAB/in_c" --name b "${SERVICE[@]}"
must "another b" until_true 30 grep -qs "^receiving as" "$LAB/receive_c.err"
id=$(sed -n 's/^receiving as b (\(.*\)) into.*/\1/p' "$LAB/receive_b.err")
must "the sender says so" until_true 30 grep -q "another receiver of this name has come, .*; the file goes to $id" "$LAB/late.err"
must "the first one gets it" ends late 0 'data.bin sent to b'
must "whole" arrived data.bin "$LAB/in_b/data.bin"
must "and the other nothing" [ -z "$(find "$LAB/in_c" -type f)" ]
