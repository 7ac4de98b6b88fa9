# A command is kept running: what it acknowledged it has, however often it dies or hangs.
site
cat >"$LAB/take.sh" <<SH
#!/bin/bash
# Writes down whole batches only. Dies after every third, and hangs once.
n=0
while IFS= read -r line; do
    if [ -n "\$line" ]; then printf '%s\n' "\$line" >>"$LAB/batch.\$\$"; continue; fi
    n=\$((n + 1))
    [ \$n -lt 4 ] || exit 7
    if [ \$n = 2 ] && [ ! -e "$LAB/hung" ]; then : >"$LAB/hung"; sleep 1000; fi
    cat "$LAB/batch.\$\$" >>"$LAB/taken.jsonl"; rm "$LAB/batch.\$\$"
    echo taken
done
SH
chmod +x "$LAB/take.sh"
collector_up "- {name: program, json: {command: [$LAB/take.sh], acknowledge: true, time-limit: 2s}}"
agent_up
must "it hangs" until_true 60 test -e "$LAB/hung"
must "that is said" until_true 60 says "output program: .*no line in answer"
must "it is started again" until_true 60 output_at_least program delivered 20
must "that it ended is said" until_true 60 says "output program: .*exit status 7"
must "readings" more_readings 40
agent_down
must "it has every reading" becomes_same 90 keys eval 'keys <"$LAB/taken.jsonl" | uniq'
must "with the same values" becomes_same 30 values eval 'values <"$LAB/taken.jsonl" | uniq'
collector_down
must "nothing of it is left running" until_true 30 eval '! pgrep -f "$LAB/take.sh" >/dev/null'
