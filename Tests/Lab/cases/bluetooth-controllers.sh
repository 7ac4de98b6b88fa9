# Two controllers hear each other's advertisements; one without power is not heard.
. Tests/Lab/guest.sh
controllers 2
advertise 0
advertise 1
must "the first hears the second" finds 0 "${ADDRESSES[1]}"
must "the second hears the first" finds 1 "${ADDRESSES[0]}"
power 1 off
if powered 1; then fail "the second has power"; fi
if finds 0 "${ADDRESSES[1]}" 8; then fail "the second is still heard"; fi
power 1 on
must "it has power again" until_true 60 powered 1
advertise 1
must "it is heard again" finds 0 "${ADDRESSES[1]}"
