-- Runs, their update log, journal, events, snapshots and texts; JSON and texts as UTF-8 bytes, since a text may hold
-- the character U+0000. PostgreSQL compresses what is large, and has a checksum of each page.

CREATE TABLE runs (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    graph TEXT NOT NULL,
    graph_hash TEXT NOT NULL,
    definition BYTEA NOT NULL,
    status TEXT NOT NULL,
    cause TEXT,
    error BYTEA,
    metadata BYTEA NOT NULL,
    input BYTEA NOT NULL,
    waiting TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    parent TEXT,
    -- What ids and random numbers derive from: the run's own id, or that of the run a fork goes back to.
    seed TEXT NOT NULL,
    cancel BOOLEAN NOT NULL DEFAULT false
);

CREATE INDEX runs_by_time ON runs (created_at, id);

-- Who may write a run. The token rises with each owner, so that an owner who was thought dead is refused afterwards.
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY,
    token BIGINT NOT NULL,
    owner TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

-- `events` are those of the commit that wrote the row, `last_seq` is the number of the last of them.
CREATE TABLE steps (
    run BIGINT NOT NULL,
    step BIGINT NOT NULL,
    scope TEXT NOT NULL,
    node TEXT NOT NULL,
    visit BIGINT NOT NULL,
    item BIGINT,
    attempt BIGINT NOT NULL,
    status TEXT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    hash BYTEA NOT NULL,
    delta BYTEA,
    position BYTEA,
    last_seq BIGINT,
    events BYTEA,
    PRIMARY KEY (run, step)
);

CREATE INDEX steps_by_scope ON steps (run, scope, step) WHERE scope <> '';

CREATE TABLE snapshots (
    run BIGINT NOT NULL,
    scope TEXT NOT NULL,
    step BIGINT NOT NULL,
    content BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    position BYTEA NOT NULL,
    PRIMARY KEY (run, scope, step)
);

-- The events of a commit that wrote no step, or several.
CREATE TABLE events (
    run BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    batch BYTEA NOT NULL,
    PRIMARY KEY (run, last_seq)
);

CREATE TABLE calls (
    run BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    attempt_key TEXT NOT NULL,
    path TEXT NOT NULL,
    visit BIGINT NOT NULL,
    item BIGINT,
    attempt BIGINT NOT NULL,
    kind TEXT NOT NULL,
    request_hash BYTEA NOT NULL,
    ordinal BIGINT NOT NULL,
    status TEXT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    request BYTEA,
    answer BYTEA,
    PRIMARY KEY (run, seq)
);

CREATE INDEX calls_by_key ON calls (run, attempt_key);

CREATE TABLE texts (
    hash BYTEA PRIMARY KEY,
    content BYTEA NOT NULL
);

CREATE TABLE text_uses (
    hash BYTEA NOT NULL,
    run BIGINT NOT NULL,
    PRIMARY KEY (hash, run)
);

CREATE INDEX text_uses_by_run ON text_uses (run);

-- What users told runs while they were under way, by number from 1.
CREATE TABLE instructions (
    run BIGINT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (run, number)
);

-- Raises GR001 unless the writer may write the run now: it holds the lease with this token, or, where it has no token,
-- nobody holds the lease. The row stays as it is until the writer's transaction ends.
CREATE FUNCTION require_lease(the_run TEXT, the_owner TEXT, the_token BIGINT) RETURNS VOID AS $$
DECLARE
    lease leases%ROWTYPE;
BEGIN
    SELECT * INTO lease FROM leases WHERE run_id = the_run FOR SHARE;
    IF the_token IS NULL THEN
        IF lease.expires_at > clock_timestamp() THEN
            RAISE EXCEPTION '%', lease.owner USING ERRCODE = 'GR001';
        END IF;
    ELSIF lease.token IS DISTINCT FROM the_token OR lease.owner <> the_owner THEN
        RAISE EXCEPTION '%', coalesce(lease.owner, 'nobody') USING ERRCODE = 'GR001';
    END IF;
END
$$ LANGUAGE plpgsql;
