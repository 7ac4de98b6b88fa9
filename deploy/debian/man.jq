# Manual pages from what `rivulet --experimental-dump-help` says: the tables that --help is made from.
# jq -r --arg command NAME|'' --arg version V --arg date D -f deploy/debian/man.jq; with '' the page of rivulet itself.

def escaped: gsub("\\\\"; "\\e") | gsub("-"; "\\-") | gsub("(?m)^(?<c>[.'])"; "\\&\(.c)");
def dashed: if .kind == "long" then "--" + .name elif .kind == "short" then "-" + .name else "-" + .name end;
def names: [.names // [] | sort_by(.kind == "long") | .[] | dashed | "\\fB" + escaped + "\\fR"] | join(", ");
def value: if .kind == "flag" then "" else " \\fI" + (.valueName | escaped) + "\\fR" end;
def usage:
    if .kind == "positional" then "\\fI" + (.valueName | escaped) + "\\fR"
    else "\\fB" + (.preferredName | dashed | escaped) + "\\fR" + value end;
def shown: [.arguments // [] | .[] | select(.shouldDisplay)];
def bracketed($argument): if $argument.isOptional then "[" + . + "]" else . end
    | if $argument.isRepeating then . + "..." else . end;
def paragraphs:
    gsub("deploy/(?<file>[a-z-]+\\.md)"; "/usr/share/doc/rivulet/\(.file)")
    | split("\n\n")
    | map(if test("(?m)^    ") then ".PP\n.nf\n.RS\n" + (gsub("(?m)^    "; "") | escaped) + "\n.RE\n.fi"
        else ".PP\n" + escaped end) | join("\n");
def details:
    ([.abstract // empty]
        + (if (.allValues // []) | length > 0 then ["Values: " + (.allValues | join(", ")) + "."] else [] end)
        + (if .defaultValue then ["Default: " + .defaultValue + "."] else [] end))
    | join(" ") | escaped;
def option:
    ".TP\n" + (if .kind == "positional" then usage else names + value end) + "\n" + details;
def title($name): ".TH \($name | ascii_upcase) 1 \"\($date)\" \"rivulet \($version)\" \"Rivulet\"";
def line: (.abstract // "") | rtrimstr(".") | (.[0:1] | ascii_downcase) + .[1:] | escaped;

.command
| . as $root
| [.subcommands[] | select(.shouldDisplay and .commandName != "help")] as $commands
| if $command == "" then
    title("rivulet"),
    ".SH NAME\nrivulet \\- \(line)",
    ".SH SYNOPSIS\n.B rivulet\n\\fIcommand\\fR [\\fIoption\\fR]...",
    ".SH DESCRIPTION\n.PP\n\(.discussion // "Each command has a page of its own, and \\fB--help\\fR." )",
    ".SH COMMANDS",
    ($commands[] | ".TP\n\\fBrivulet\\-\(.commandName | escaped)\\fR(1)\n\(.abstract // "" | escaped)"),
    ".SH FILES\n.TP\n.I /etc/rivulet/config.yaml\nthe configuration of this machine's node",
    ".SH SEE ALSO\n.BR rivulet\\-agent (1)"
  else
    ($commands[] | select(.commandName == $command))
    | title("rivulet-" + .commandName),
      ".SH NAME\nrivulet\\-\(.commandName | escaped) \\- \(line)",
      ".SH SYNOPSIS\n.B rivulet \(.commandName | escaped)\n\([shown[] | . as $a | usage | bracketed($a)] | join("\n"))",
      (if .discussion then ".SH DESCRIPTION\n\(.discussion | paragraphs)" else empty end),
      ([shown[] | select(.kind == "positional") | option]
          | if length > 0 then ".SH ARGUMENTS", .[] else empty end),
      ([shown[] | select(.kind != "positional") | option] | if length > 0 then ".SH OPTIONS", .[] else empty end),
      ".SH SEE ALSO\n.BR rivulet (1),\n.BR rivulet\\-agent (1)"
  end
