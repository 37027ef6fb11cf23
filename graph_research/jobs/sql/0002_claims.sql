-- The queue by age and by owner, the jobs in process, and those that may expire: a claim reads a few rows of each.

DROP INDEX research_jobs_by_status;
DROP INDEX research_jobs_of_owner_by_status;
DROP INDEX research_jobs_of_owner;
CREATE INDEX research_jobs_of_owner ON research_jobs (owner, created_at, id, status);
-- SQLite reads an index alone only where it has the column of its condition, too.
CREATE INDEX research_jobs_queued ON research_jobs (created_at, id, owner, expires_at, status) WHERE status = 'QUEUED';
CREATE INDEX research_jobs_queued_of_owner ON research_jobs (owner, status, created_at, id, expires_at)
WHERE status = 'QUEUED';
CREATE INDEX research_jobs_in_process ON research_jobs (owner, lease_until, status) WHERE status = 'PROCESSING';
CREATE INDEX research_jobs_not_finished ON research_jobs (expires_at) WHERE finished_at IS NULL;
