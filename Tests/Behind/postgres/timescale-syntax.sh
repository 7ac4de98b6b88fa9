# No TimescaleDB is packaged for Debian: what we would send to one is parsed by PostgreSQL, and run up to where the
# extension begins. The functions have stand-ins with TimescaleDB's parameters.
site
pg_ready
pg_says "CREATE FUNCTION create_hypertable(relation regclass, time_column_name name, chunk_time_interval interval,
        create_default_indexes boolean) RETURNS text LANGUAGE sql AS \$\$ SELECT 'made' \$\$;
    CREATE FUNCTION time_bucket(width interval, ts timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE
        AS \$\$ SELECT date_bin(width, ts, '2000-01-01') \$\$"
sql=$(sed -n '/func hypertable/,/^    }$/p; /func continuousHours/,/^    }$/p' Sources/Outputs/Postgres/PostgresSchema.swift |
    awk '/^ *""",?$/ { inside = !inside; if (!inside) print ";"; next } inside' |
    sed 's/\\(name)/rivulet/g; s/\\(functions)/public/g')
must "the statements are found" [ "$(grep -c ';' <<<"$sql")" = 3 ]
statements=$(sed 's/^ *SELECT public\.\(create_hypertable\|add_continuous\)/PERFORM public.\1/' <<<"$sql")
must "they are PostgreSQL" pg_says "CREATE FUNCTION parsed() RETURNS void LANGUAGE plpgsql AS \$body\$
    BEGIN $statements END \$body\$"
must "a broken one is not" eval '! pg_says "CREATE FUNCTION broken() RETURNS void LANGUAGE plpgsql AS \$body\$
    BEGIN CREATE MATERIALIZED VIEW x WITH (timescaledb.continuous AS SELECT 1; END \$body\$" 2>/dev/null'
