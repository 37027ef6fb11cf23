-- One row for each server. Times are microseconds since 1970 in UTC.

CREATE TABLE provider_limits (
    name TEXT PRIMARY KEY,
    -- When the allowance of the rate limit is whole again.
    whole_at BIGINT NOT NULL,
    -- The end of the latest Retry-After.
    paused_until BIGINT NOT NULL DEFAULT 0,
    -- NULL while the circuit breaker is closed.
    open_until BIGINT
);
