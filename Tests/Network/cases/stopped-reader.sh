# The reader of what a collector prints stands still, as with Ctrl-S and `less`: the agent keeps its channel, its
# readings are stored, and when the reader goes on it gets the rest. It does not keep the collector from ending.
host c a
lan 1 c a
config c collector
config a agent 'sensors:
  - {driver: system, every: 200ms, disks: []}
report: {wait: 0s}'
# A pipe of one page (F_SETPIPE_SZ): a second's rows fill it.
small_pipe="perl -e 'fcntl(STDOUT, 1031, 4096) or die; exec @ARGV'"
collect="$small_pipe '$BIN/rivulet' collect --config '$LAB/c.yaml' --format json"
mkfifo "$LAB/rows"
start reader c bash -c "exec cat <'$LAB/rows'"
start collector c bash -c "exec $collect --every 1s >'$LAB/rows'"
agent a
bytes() { stat -c %s "$LAB/reader.out"; }
printed() { [ "$(grep -c '"node":"a"' "$LAB/reader.out")" -ge "$1" ]; }
has_stored() { [ "$(stored_readings c)" -ge "$1" ] 2>/dev/null; }
answers() { status c >/dev/null; }
must "rows" until_true 30 printed 20
must "a store" until_true 10 has_stored 1
began=$(member a openedAtMilliseconds)

kill -STOP "$reader"
sleep 1
stood=$(bytes)
before=$(stored_readings c)
sleep 8
must "nothing was read" [ "$(bytes)" = "$stood" ]
must "readings were stored meanwhile" has_stored $((before + 100))
must "the collector answers" answers
must "the agent has its collector" connected a
must "over the same channel" [ "$(member a openedAtMilliseconds)" = "${began:-none}" ]
must "nobody was lost" bash -c "! grep -qE 'does not answer|no longer answers' '$LAB'/*.err"
kill -CONT "$reader"
caught_up() { [ "$(bytes)" -gt $((stood + 16384)) ]; }
must "what waited comes at once" until_true 3 caught_up
must "nothing was left out" [ "$(drops c standard-output-full)" = 0 ]
# From each window's start to the next one's, in milliseconds.
steps() {
    grep '"node":"a"' "$LAB/reader.out" | grep -o '"start":"[^"]*Z"' | uniq |
        sed 's/.*T\(..\):\(..\):\([0-9.]*\)Z"/\1 \2 \3/' |
        awk '{ t = ($1 * 60 + $2) * 60 + $3; if (NR > 1) printf "%d\n", (t - last) * 1000 + 0.5; last = t }' | sort -u
}
must "every window, in order" [ "$(steps)" = 1000 ]

# The end, while nobody reads.
kill -STOP "$reader"
sleep 4
kill -TERM "$collector"
ended() { ! kill -0 "$collector" 2>/dev/null; }
must "SIGTERM ends it" until_true 5 ended
wait "$collector"
must "with status 0" [ $? = 0 ]
must "it says that something is lost" grep -q "nobody reads standard output" "$LAB/collector.err"
kill -CONT "$reader"

# A window that was asked for comes whole, however late it is read.
start once c bash -c "$collect --every 5s --once | { sleep 14; cat; }"
finished() { ! kill -0 "$once" 2>/dev/null; }
must "it is waited for" until_true 30 finished
must "more than the pipe holds" [ "$(stat -c %s "$LAB/once.out")" -gt 4096 ]
must "to its last line" [ "$(tail -c 2 "$LAB/once.out")" = "}" ]

# Where the log goes the same way (`2>&1 | less`), its lines hold up nobody either.
mkfifo "$LAB/both"
start listener c bash -c "exec cat <'$LAB/both'"
start both c bash -c "exec $collect --every 1s --trace >'$LAB/both' 2>&1"
must "another collector" until_true 30 answers
must "the agent finds it" until_true 30 connected a
traced() { grep -q '^report ' "$LAB/listener.out"; }
must "its log is among its rows" until_true 30 traced
began=$(member a openedAtMilliseconds)
kill -STOP "$listener"
sleep 8
must "it answers while nobody reads its log" answers
must "and keeps its agent" connected a
must "over the same channel" [ "$(member a openedAtMilliseconds)" = "${began:-none}" ]
kill -CONT "$listener"
stop "$both"
