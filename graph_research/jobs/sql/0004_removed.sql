-- When the jobs that users have removed were submitted: they still count for the limit of submissions.

CREATE TABLE research_removed (
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX research_removed_of_owner ON research_removed (owner, created_at);
CREATE INDEX research_removed_by_age ON research_removed (created_at);
