# Tables of a newer program are not touched; those of an older one become ours, with what is in them.
site
pg_ready
collector_up "$(pg_output)"
agent_up
must "readings arrive" until_true 60 pg_has 20
collector_down
pg_says "DROP VIEW rivulet.named_readings, rivulet.named_hours, rivulet.channel_hours;
    DELETE FROM rivulet.version WHERE number = 2"
collector_again
must "the views are back" until_true 60 pg_says "SELECT 1 FROM rivulet.named_readings LIMIT 1"
must "and the version" until_true 30 eval '[ "$(pg_says "SELECT max(number) FROM rivulet.version")" = 2 ]'
collector_down
pg_says "INSERT INTO rivulet.version VALUES (99)"
before=$(pg_count)
collector_again
must "a newer version is told" until_true 60 says "pg.*version 99.*install a newer rivulet"
must "readings go on" more_readings 40
must "once" says_once "version 99"
must "nothing was written" test "$(pg_count)" = "$before"
pg_says "DELETE FROM rivulet.version WHERE number = 99"
must "then they arrive" until_true 90 output_is pg phase current
agent_down
must "the server has what the store has" becomes_same 60 values pg_values
# Somebody else's tables under the same names.
pg_says "CREATE SCHEMA theirs CREATE TABLE version (number integer) CREATE TABLE readings (a integer);
    INSERT INTO theirs.version VALUES (2); GRANT ALL ON SCHEMA theirs TO rivulet;
    GRANT ALL ON ALL TABLES IN SCHEMA theirs TO rivulet"
collector_down
collector_up "$(pg_output ", schema: theirs")"
must "foreign tables are told" until_true 60 says "pg.*name another schema"
