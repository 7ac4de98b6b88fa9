# Sourced by the cases: a PostgreSQL of our own in the collector's namespace, as user postgres, and what it has. PG_BIN
# names the folder with the programs of another version than Debian's.
. Tests/Behind/certificates.sh
PG_BIN=${PG_BIN:-$(find /usr/lib/postgresql/*/bin -maxdepth 0 | sort -V | tail -1)}

# pg_make [LINES [FOLDER]]: a new cluster with role and database `rivulet`; LINES go into postgresql.conf.
pg_make() {
    local folder=${2:-$LAB/pg}
    # User postgres has to get there.
    chmod a+x "$LAB"
    mkdir -p "$folder"
    chown postgres "$folder"
    as_postgres "$PG_BIN/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 >"$LAB/initdb.log" 2>&1 ||
        fail "initdb: $(tail -n 3 "$LAB/initdb.log")"
    cat >>"$folder/data/postgresql.conf" <<CONF
listen_addresses = '*'
unix_socket_directories = '$folder'
log_min_messages = warning
${1:-}
CONF
    cat >"$folder/data/pg_hba.conf" <<'HBA'
local all postgres trust
local replication postgres trust
host all all 0.0.0.0/0 scram-sha-256
HBA
}

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/nonexistent "$@"; }

# pg_up [FOLDER [VARIABLE]]: starts it, and waits until it answers.
pg_up() {
    local folder=${1:-$LAB/pg}
    start "${2:-pg}" c setpriv --reuid=postgres --regid=postgres --init-groups "$PG_BIN/postgres" -D "$folder/data"
    until_true 90 pg_answers "$folder" || fail "PostgreSQL does not start"
}

pg_answers() { in_host c "$PG_BIN/pg_isready" -q -h "${1:-$LAB/pg}" -U postgres; }

# pg_database: role and database, and the role's password in $LAB/password.
pg_database() {
    (umask 077 && echo right-word >"$LAB/password")
    pg_says "CREATE ROLE rivulet LOGIN PASSWORD 'right-word'" postgres >/dev/null
    pg_says "CREATE DATABASE rivulet OWNER rivulet" postgres >/dev/null
}

# pg_ready: all of it.
pg_ready() {
    pg_make "$@"
    pg_up
    pg_database
}

# pg_down [SIGNAL]: INT ends sessions, too. KILL leaves the others of it to die on their own.
pg_down() {
    stop "$pg" "${1:-INT}"
    until_true 60 eval '! pgrep -f "^postgres: .*$LAB/pg" >/dev/null'
    rm -f "$LAB/pg/data/postmaster.pid"
}

# pg_says STATEMENT [DATABASE [FOLDER]]: rows, columns separated by tabs; as the superuser.
# Debian's `psql` is a script that looks for the newest; a case asks many times.
pg_says() { "$PG_BIN/psql" -XAtq -F $'\t' -h "${3:-$LAB/pg}" -U postgres -d "${2:-rivulet}" -v ON_ERROR_STOP=1 -c "$1"; }

# pg_values [SCHEMA]: every reading as `values` has them.
pg_values() {
    pg_says "COPY (SELECT peer, run, sequence, channel, coalesce(trim_scale(value)::text, '')
        FROM ${1:-rivulet}.named_readings) TO STDOUT"
}

# pg_count: how many readings there are.
pg_count() { pg_says "SELECT count(*) FROM rivulet.readings" 2>/dev/null || echo 0; }
pg_has() { [ "$(pg_count)" -ge "$1" ]; }

# pg_output [KEYS]: the lines of one output to it, called `pg`.
pg_output() {
    echo "- {name: pg, postgres: {host: ${PG_HOST:-127.0.0.1}, password-file: $LAB/password, time-limit: 3s${1:-}}}"
}
