# The file's disk is full for a while: it is said once, nothing is lost and nothing is written by half; another output
# goes on meanwhile.
site
mkdir "$LAB/full"
mount -t tmpfs -o size=64k rivulet-test "$LAB/full"
collector_up "- {name: full, json: {file: $LAB/full/lines.jsonl}}
- {name: other, json: {file: $LAB/other.jsonl}}"
agent_up
must "readings come" until_true 60 output_at_least full delivered 10
head -c 100000 /dev/zero >"$LAB/full/filler" 2>"$LAB/filler.log"
must "it fails" until_true 60 output_is full phase failing
must "it says why" grep -q "No space left" <(output full fault)
must "the other goes on" until_true 30 output_at_least other delivered $(($(output other delivered) + 20))
must "for the other, nothing is wrong" output_is other phase current
until_true 30 output_at_least full failingSeconds 6
must "it said so once" says_once "output full: .*No space left"
rm "$LAB/full/filler"
must "it works again" until_true 90 output_is full phase current
must "and says so" until_true 30 says "output full: works again"
agent_down
must "the file has what the store has, once" becomes_same 60 keys eval 'keys <"$LAB/full/lines.jsonl"'
must "and so has the other" becomes_same 60 keys eval 'keys <"$LAB/other.jsonl"'
