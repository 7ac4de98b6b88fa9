# A manual page from `rivulet-agent --help`: paragraphs, the usage, options, the exit status.
# awk -v version=V -v date=D -f deploy/debian/man-agent.awk

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}
function bold(text) { return "\\fB" text "\\fR" }

BEGIN {
    print ".TH RIVULET-AGENT 1 \"" date "\" \"rivulet " version "\" \"Rivulet\""
    print ".SH NAME\nrivulet\\-agent \\- run a node that reads sensors and forwards for others"
}
/^usage: / {
    sub(/^usage: rivulet-agent */, "")
    synopsis = escaped($0)
    next
}
/^  -/ || /^  +--/ {
    if (!options++) text = text ".SH OPTIONS\n"
    names = $0
    sub(/^ +/, "", names)
    match(names, /  +/)
    rest = RSTART ? substr(names, RSTART + RLENGTH) : ""
    if (RSTART) names = substr(names, 1, RSTART - 1)
    text = text ".TP\n" bold(escaped(names)) "\n" escaped(rest) "\n"
    next
}
/^ +[^ ]/ {
    sub(/^ +/, "")
    text = text escaped($0) "\n"
    next
}
/^Exit status: / {
    sub(/^Exit status: /, "")
    text = text ".SH EXIT STATUS\n" escaped($0) "\n"
    next
}
/^$/ { if (!options && text != "") text = text ".PP\n"; next }
{ text = text escaped($0) "\n" }
END {
    print ".SH SYNOPSIS\n.B rivulet\\-agent\n" synopsis
    print ".SH DESCRIPTION"
    printf "%s", text
    print ".SH FILES\n.TP\n.I /etc/rivulet/config.yaml\nthe configuration"
    print ".TP\n.I /var/lib/rivulet\nthe identity of this node, and readings that wait for the collector"
    print ".SH SEE ALSO\n.BR rivulet (1)"
}
