# An identity that others can read is not loaded without a word.
. Tests/Hostile/hostile.sh
host a
config a agent
agent a
must "the agent runs" until_true 30 up a
must "the file is its owner's only" [ "$(stat -c %a "$LAB/a/identity.pem")" = 600 ]
stop "$agent_a"
chmod 0644 "$LAB/a/identity.pem"
agent a
told() { grep -qE 'identity.pem.*(others|permissions|0644|chmod)' "$LAB/agent_a.err"; }
must "it is told" until_true 30 told
