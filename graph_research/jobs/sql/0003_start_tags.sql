-- Turns between users, as in start-time fair queueing: a job's start tag is one more than that of its user's last one in
-- the queue, and at least that of the job at its head.

ALTER TABLE research_jobs ADD COLUMN start_tag BIGINT NOT NULL DEFAULT 0;
DROP INDEX research_jobs_queued;
DROP INDEX research_jobs_queued_of_owner;
CREATE INDEX research_jobs_queued ON research_jobs (start_tag, created_at, id, owner, expires_at, status)
WHERE status = 'QUEUED';
CREATE INDEX research_jobs_queued_of_owner ON research_jobs (owner, status, start_tag, created_at, id, expires_at)
WHERE status = 'QUEUED';
