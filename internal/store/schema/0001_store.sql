-- What the store itself offers: whole values by key, and the tokens of the door.
CREATE TABLE blob (
    key      TEXT PRIMARY KEY,
    data     BLOB NOT NULL,
    saved_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE token (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    hash       BLOB NOT NULL UNIQUE,          -- SHA-256 of the token
    hint       TEXT NOT NULL DEFAULT '',
    class      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    used_ms    INTEGER NOT NULL DEFAULT 0,    -- 0: never
    revoked_ms INTEGER NOT NULL DEFAULT 0,    -- 0: valid
    first      INTEGER NOT NULL DEFAULT 0     -- 1: made at the first start
) WITHOUT ROWID;
