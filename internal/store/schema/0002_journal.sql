-- The journal: one table of events, keyed by small numbers.
-- Times are UTC milliseconds. Contexts are 16 bytes when they are ULIDs, else text.

-- Entities by registry id where there is one, so a rename keeps its history.
CREATE TABLE entity (
    id     INTEGER PRIMARY KEY,
    rid    TEXT NOT NULL DEFAULT '',
    eid    TEXT NOT NULL,
    domain TEXT NOT NULL,
    name   TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX entity_rid ON entity(rid) WHERE rid <> '';
CREATE INDEX entity_eid ON entity(eid);

-- JSON texts (changed attributes, call data, raw targets), each once, by 63 bits of SHA-256.
CREATE TABLE doc (
    id   INTEGER PRIMARY KEY,
    json TEXT NOT NULL
);

CREATE TABLE person (
    id   INTEGER PRIMARY KEY,
    uid  TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL DEFAULT ''
);

CREATE TABLE event (
    id     INTEGER PRIMARY KEY,   -- the sequence of the journal
    at     INTEGER NOT NULL,
    kind   INTEGER NOT NULL,      -- 1 state 2 automation 3 script 4 service 5 own call 6 gap 7 bulk 8 own look
    entity INTEGER,               -- what changed or ran
    old    TEXT,
    new    TEXT,
    doc    INTEGER,               -- changed attributes or data
    raw    INTEGER,               -- raw target
    ctx    BLOB,
    parent BLOB,
    person INTEGER,
    cause  INTEGER,               -- entity that triggered a run
    what   TEXT,                  -- domain.service, trigger text, tool, reason
    till   INTEGER,               -- end of a gap or bulk; NULL while open
    n      INTEGER,               -- how many entities or changes
    flags  INTEGER NOT NULL DEFAULT 0 -- 1 found by comparing after a reconnect, 2 removed, 4 no state before
);
CREATE INDEX event_at     ON event(at);
CREATE INDEX event_entity ON event(entity, at) WHERE entity IS NOT NULL;
CREATE INDEX event_ctx    ON event(ctx) WHERE ctx IS NOT NULL;
CREATE INDEX event_parent ON event(parent) WHERE parent IS NOT NULL;
CREATE INDEX event_rare   ON event(kind, at) WHERE kind <> 1;

-- Entities a call was about, resolved.
CREATE TABLE target (
    entity INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    event  INTEGER NOT NULL,
    PRIMARY KEY (entity, at, event)
) WITHOUT ROWID;
CREATE INDEX target_event ON target(event);

-- Members of a bulk row: each entity's own change.
CREATE TABLE member (
    id     INTEGER PRIMARY KEY,
    bulk   INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    old    TEXT,
    new    TEXT
);
CREATE INDEX member_entity ON member(entity, at);
CREATE INDEX member_bulk ON member(bulk);

-- Our own calls.
CREATE TABLE own (
    event   INTEGER PRIMARY KEY,
    call    TEXT NOT NULL,
    via     TEXT NOT NULL,
    who     TEXT NOT NULL,
    class   INTEGER NOT NULL,
    dry     INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code    TEXT NOT NULL,
    message TEXT NOT NULL,
    took_us INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    steps   TEXT NOT NULL
);
CREATE TABLE own_ctx (
    ctx   BLOB NOT NULL,
    event INTEGER NOT NULL,
    PRIMARY KEY (ctx, event)
) WITHOUT ROWID;

-- When the link was up and everything that happened was seen.
CREATE TABLE coverage (
    id    INTEGER PRIMARY KEY,
    since INTEGER NOT NULL,
    till  INTEGER NOT NULL,
    open  INTEGER NOT NULL        -- 1 while it goes on
);
CREATE INDEX coverage_till ON coverage(till);

-- Up to when everything is on disk, and whether the last run ended cleanly.
CREATE TABLE mark (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    alive INTEGER NOT NULL,
    clean INTEGER NOT NULL
);
