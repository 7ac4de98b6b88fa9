#pragma once
#include <sqlite3.h>

/* Swift sees neither SQLITE_TRANSIENT, a cast, nor functions with variable arguments. */

/* sqlite3_bind_blob with SQLITE_TRANSIENT: the bytes are copied; none are an empty blob, not NULL. */
static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/* sqlite3_bind_text with SQLITE_TRANSIENT: UTF-8, copied; no address is the empty text, not NULL. */
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text ? text : "", count, SQLITE_TRANSIENT);
}

/* sqlite3_db_config with SQLITE_DBCONFIG_DEFENSIVE: no SQL can damage the file's own format. */
static inline int csqlite_defend(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
