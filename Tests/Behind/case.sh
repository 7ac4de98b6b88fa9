#!/usr/bin/env bash
# Runs one case in a lab; its lane may have a library.sh beside it.
. Tests/Behind/library.sh
# Servers are asked through programs, which cost more than they wait for.
POLL=0.3
lane=$(dirname "$1")/library.sh
[ ! -e "$lane" ] || . "$lane"
. Tests/Network/case.sh
