# Run once before the lane's cases, outside their time: a virtual environment with Home Assistant, unless there is one.
# What it says last is why the cases are not run. HOMEASSISTANT names the environment; INSTALL_SECONDS is what the
# package index may take.
HOMEASSISTANT=${HOMEASSISTANT:-/var/tmp/rivulet-homeassistant}
INSTALL_SECONDS=${INSTALL_SECONDS:-420}
[ ! -e "$HOMEASSISTANT/complete" ] || exit 0
exec 9>"$HOMEASSISTANT.lock"
flock 9
[ ! -e "$HOMEASSISTANT/complete" ] || exit 0
python3 -m venv "$HOMEASSISTANT" || {
    echo "no virtual environment for Home Assistant could be made in $HOMEASSISTANT"
    exit 77
}
# What came before the time was over is in pip's cache, and need not come again.
timeout "$INSTALL_SECONDS" "$HOMEASSISTANT/bin/pip" install -q --no-deps --retries 1 --timeout 30 \
    -r Tests/Behind/homeassistant/requirements
case $? in
    0) touch "$HOMEASSISTANT/complete" ;;
    124)
        echo "the package index did not give Home Assistant within $((INSTALL_SECONDS / 60)) min"
        exit 77
        ;;
    *)
        echo "the package index does not have, or does not give, what Home Assistant needs"
        exit 77
        ;;
esac
