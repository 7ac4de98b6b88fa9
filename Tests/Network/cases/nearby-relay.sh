# A and B share no network: M between them carries their sessions, and all three are one group. Each says hello
# to both others, hears that M is gone, and is told when the others leave.
host a m b
lan 1 a m
lan 2 m b
for name in a m b; do
    start "hello_$name" "$name" env RIVULET_NEARBY_BLUETOOTH=off "$BIN/nearby-hello" "$name" 150
done

heard() { grep -q "^$2: Hello, I am $2!" "$LAB/hello_$1.out"; }
gone() { grep -q "^$2 is gone" "$LAB/hello_$1.out"; }

for pair in "a m" "m a" "m b" "b m" "a b" "b a"; do
    must "$pair" until_true 40 heard $pair
done
stop "$hello_m" KILL
must "the one in the middle is missed" until_true 40 gone a m
must "and what is behind it" until_true 40 gone a b
stop "$hello_a"
