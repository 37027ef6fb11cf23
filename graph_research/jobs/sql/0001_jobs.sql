-- Jobs, their results and their scored sources, for SQLite and PostgreSQL alike. Times are microseconds since 1970 in UTC.

CREATE TABLE research_jobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    question TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    progress DOUBLE PRECISION NOT NULL DEFAULT 0,
    stage TEXT,
    -- The fencing token: raised by every claim.
    attempt BIGINT NOT NULL DEFAULT 0,
    lost_claims BIGINT NOT NULL DEFAULT 0,
    worker TEXT,
    lease_until BIGINT,
    cancel_requested BIGINT NOT NULL DEFAULT 0,
    waiting_for TEXT,
    answer TEXT,
    error_code TEXT,
    error_message TEXT,
    idempotency_key TEXT,
    keeps_run BIGINT NOT NULL DEFAULT 0,
    UNIQUE (owner, idempotency_key)
);

CREATE INDEX research_jobs_of_owner ON research_jobs (owner, created_at, id);
-- Holds all that the choice of the next job looks at.
CREATE INDEX research_jobs_by_status ON research_jobs (status, created_at, id, owner, expires_at, lease_until);
CREATE INDEX research_jobs_of_owner_by_status ON research_jobs (owner, status);
CREATE INDEX research_jobs_ended ON research_jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE research_results (
    job_id TEXT PRIMARY KEY,
    markdown TEXT NOT NULL,
    citations TEXT NOT NULL,
    claims TEXT NOT NULL,
    tokens TEXT NOT NULL,
    confidence DOUBLE PRECISION,
    claim_count BIGINT NOT NULL,
    source_count BIGINT NOT NULL,
    has_contradictions BIGINT NOT NULL
);

CREATE TABLE research_sources (
    job_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    published_at TEXT,
    provider TEXT NOT NULL,
    retrieval_method TEXT NOT NULL,
    tier TEXT NOT NULL,
    authority DOUBLE PRECISION NOT NULL,
    recency DOUBLE PRECISION NOT NULL,
    relevance DOUBLE PRECISION NOT NULL,
    credibility DOUBLE PRECISION NOT NULL,
    composite DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (job_id, source_id)
);
