-- Runs, their update log, journal, events, snapshots and texts.
-- Rows of a run are clustered: id = runs.id << 32 | number within the run.

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    graph TEXT NOT NULL,
    graph_hash TEXT NOT NULL,
    definition BLOB NOT NULL,
    status TEXT NOT NULL,
    cause TEXT,
    error BLOB,
    metadata BLOB NOT NULL,
    input BLOB NOT NULL,
    waiting TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    parent TEXT,
    -- What ids and random numbers derive from: the run's own id, or that of the run a fork goes back to.
    seed TEXT NOT NULL,
    cancel INTEGER NOT NULL DEFAULT 0,
    -- Of all but `cancel`.
    checksum INTEGER NOT NULL
);

-- `events` are those of the commit that wrote the row, `last_seq` is the number of the last of them.
CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    node TEXT NOT NULL,
    visit INTEGER NOT NULL,
    item INTEGER,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at REAL NOT NULL,
    seconds REAL NOT NULL,
    hash BLOB NOT NULL,
    delta BLOB,
    position BLOB,
    last_seq INTEGER,
    events BLOB,
    checksum INTEGER NOT NULL
);

-- The root's rows are found by id; those of a subgraph run by its scope.
CREATE INDEX steps_by_scope ON steps (id >> 32, scope, id) WHERE scope <> '';

CREATE TABLE snapshots (
    run INTEGER NOT NULL,
    scope TEXT NOT NULL,
    step INTEGER NOT NULL,
    content BLOB NOT NULL,
    hash BLOB NOT NULL,
    position BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run, scope, step)
);

-- The events of a commit that wrote no step, or several; the number of the row is the last event's.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    batch BLOB NOT NULL,
    checksum INTEGER NOT NULL
);

CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    attempt_key TEXT NOT NULL,
    path TEXT NOT NULL,
    visit INTEGER NOT NULL,
    item INTEGER,
    attempt INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    ordinal INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at REAL NOT NULL,
    seconds REAL NOT NULL,
    request BLOB,
    answer BLOB,
    checksum INTEGER NOT NULL
);

CREATE INDEX calls_by_key ON calls (id >> 32, attempt_key);

CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    compressed INTEGER NOT NULL,
    content BLOB NOT NULL
);

CREATE TABLE text_uses (
    text INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (text, run)
) WITHOUT ROWID;

CREATE INDEX text_uses_by_run ON text_uses (run);
