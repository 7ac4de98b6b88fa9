# Ann taps Jeff and Gabe in her list; both are asked in their terminals. They write, dictate and send files.
host ann jeff gabe
lan 1 ann jeff gabe
chat() { terminal "$1" "$1" "$BIN/example-group-chat" "$2"; }
chat ann Ann
chat jeff Jeff
chat gabe Gabe
for who in ann jeff gabe; do sees $who 'and can be invited'; done

types ann /browse
looks_at ann 'rv-group-chat: who is nearby'
looks_at ann 'Jeff' 40
looks_at ann 'Gabe' 40
must "Done is not offered while nobody is connected" shows_not ann 'd Done'
presses ann Enter Down Enter
looks_at ann 'Jeff +invited'
looks_at ann 'Gabe +invited'
sees jeff 'Ann wants to connect with you. Accept\? \[y/n\]'
sees gabe 'Ann wants to connect with you. Accept\? \[y/n\]'
types jeff y
looks_at ann 'Jeff +connected'
looks_at ann 'd Done'
types gabe yes
looks_at ann 'Gabe +connected'
looks_at ann '3 of 8 in the session'
presses ann d
misses ann 'rv-group-chat:'
sees ann 'Jeff is here'
sees jeff 'Gabe is here'
sees gabe 'Jeff is here'

types jeff 'Good morning, everybody'
sees ann '^Jeff: Good morning, everybody$'
sees gabe '^Jeff: Good morning, everybody$'
must "nobody hears himself" [ "$(times jeff '^Jeff: ')" = 0 ]

types ann '/stream notes'
sees jeff 'Ann begins a stream named “notes”'
sees gabe 'Ann begins a stream named “notes”'
types ann 'first line' 'second line' /end
for who in jeff gabe; do
    sees $who '^Ann, notes: first line$'
    sees $who '^Ann, notes: second line$'
    sees $who 'Ann’s stream “notes” has ended'
done

head -c 300000 /dev/urandom >"$LAB/home_ann/picture.png"
types ann '/file picture.png'
for who in jeff gabe; do
    sees $who 'picture.png from Ann is kept as'
    must "$who has the file" cmp "$LAB/home_ann/picture.png" "$LAB/home_$who/Received/picture.png"
done
sees ann 'picture.png to Jeff is there'

# One receiver cancels, then the sender what is left. At a rate that leaves time to type.
ip netns exec "$NS-ann" tc qdisc add dev eth1 root tbf rate 30mbit burst 64kb latency 50ms
truncate -s 40M "$LAB/home_ann/film.mp4"
types ann '/file film.mp4'
sees jeff 'film.mp4 from Ann: 25 %' 40
types jeff /cancel
sees jeff 'film.mp4 from Ann failed: .*cancel'
sees ann 'film.mp4 to Jeff failed: .*cancel'
must "Gabe's goes on" [ "$(times ann 'film.mp4 to Gabe failed')" = 0 ]
types ann /cancel
sees ann 'film.mp4 to Gabe failed: .*cancel'
sees gabe 'film.mp4 from Ann failed: .*cancel'
ip netns exec "$NS-ann" tc qdisc del dev eth1 root
for who in jeff gabe; do must "no half film" [ ! -e "$LAB/home_$who/Received/film.mp4" ]; done

mkdir "$LAB/site"
seq 1 5000 >"$LAB/site/numbers.txt"
start web ann busybox httpd -f -p 127.0.0.1:8000 -h "$LAB/site"
must "a web server" until_true 30 in_host ann bash -c '</dev/tcp/127.0.0.1/8000' 2>/dev/null
types ann '/web http://127.0.0.1:8000/numbers.txt'
for who in jeff gabe; do
    sees $who 'numbers.txt from Ann is kept as'
    must "$who has what was there" cmp "$LAB/site/numbers.txt" "$LAB/home_$who/Received/numbers.txt"
done
types ann '/web http://127.0.0.1:8000/nothing.txt'
sees ann 'nothing.txt to Jeff failed: .*404'

types gabe /quit
sees ann 'Gabe is not connected'
sees jeff 'Gabe is not connected'
must "Gabe's program ends" until_true 30 has_ended gabe
types ann 'still there?'
sees jeff '^Ann: still there\?$'
