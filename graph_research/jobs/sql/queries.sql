-- Statements that SQLite and PostgreSQL understand alike.

-- name: submit
INSERT INTO research_jobs (id, owner, status, question, request, created_at, expires_at, updated_at,
                           idempotency_key, keeps_run, start_tag)
VALUES (:id, :owner, 'QUEUED', :question, :request, :now, :expires_at, :now, :idempotency_key, :keeps_run, (
    SELECT coalesce(max(tag), 0)
    FROM (
        SELECT min(start_tag) AS tag FROM research_jobs WHERE status = 'QUEUED'
        UNION ALL
        SELECT max(start_tag) + 1 FROM research_jobs WHERE status = 'QUEUED' AND owner = :owner
    ) AS tags
))
ON CONFLICT DO NOTHING
RETURNING *

-- name: submitted_before
SELECT *, EXISTS (SELECT 1 FROM research_results WHERE job_id = id) AS has_result
FROM research_jobs WHERE owner = :owner AND idempotency_key = :idempotency_key

-- name: job
SELECT *, EXISTS (SELECT 1 FROM research_results WHERE job_id = id) AS has_result
FROM research_jobs WHERE id = :id AND owner = :owner

-- name: job_of_anyone
SELECT *, EXISTS (SELECT 1 FROM research_results WHERE job_id = id) AS has_result
FROM research_jobs WHERE id = :id

-- name: first_jobs
SELECT *, EXISTS (SELECT 1 FROM research_results WHERE job_id = id) AS has_result
FROM research_jobs WHERE owner = :owner ORDER BY created_at DESC, id DESC LIMIT :limit

-- name: next_jobs
SELECT *, EXISTS (SELECT 1 FROM research_results WHERE job_id = id) AS has_result
FROM research_jobs WHERE owner = :owner AND (created_at, id) < (:created_at, :id)
ORDER BY created_at DESC, id DESC LIMIT :limit

-- name: submitted_since
SELECT created_at FROM research_jobs WHERE owner = :owner AND created_at > :since AND keeps_run = 0
UNION ALL
SELECT created_at FROM research_removed WHERE owner = :owner AND created_at > :since
ORDER BY created_at

-- name: keep_submission
INSERT INTO research_removed (owner, created_at)
SELECT owner, created_at FROM research_jobs WHERE id = :id AND keeps_run = 0

-- name: count_submission
INSERT INTO research_removed (owner, created_at) VALUES (:owner, :now)

-- name: forget_submissions
DELETE FROM research_removed WHERE created_at <= :submitted_by

-- name: counts
SELECT status, count(*) AS jobs FROM research_jobs GROUP BY status

-- name: counts_of_owner
SELECT status, count(*) AS jobs FROM research_jobs WHERE owner = :owner GROUP BY status

-- name: result
SELECT * FROM research_results WHERE job_id = :id

-- name: sources
SELECT * FROM research_sources WHERE job_id = :id ORDER BY composite DESC, source_id

-- name: answer
UPDATE research_jobs
SET status = 'QUEUED', answer = :answer, waiting_for = NULL, updated_at = :now,
    start_tag = coalesce((SELECT min(start_tag) FROM research_jobs WHERE status = 'QUEUED'), start_tag)
WHERE id = :id AND owner = :owner AND status = 'AWAITING_INPUT'
RETURNING *

-- name: cancel
UPDATE research_jobs
SET status = 'CANCELLED', cancel_requested = 1, updated_at = :now, finished_at = :now, waiting_for = NULL, answer = NULL,
    worker = NULL, lease_until = NULL
WHERE id = :id AND owner = :owner
    AND (status IN ('QUEUED', 'AWAITING_INPUT') OR (status = 'PROCESSING' AND lease_until <= :now))

-- name: request_cancel
UPDATE research_jobs SET cancel_requested = 1, updated_at = :now
WHERE id = :id AND owner = :owner AND status = 'PROCESSING'

-- name: withdraw
DELETE FROM research_jobs
WHERE id = :id AND (status IN ('QUEUED', 'AWAITING_INPUT') OR (status = 'PROCESSING' AND lease_until <= :now))

-- name: fail_lost
UPDATE research_jobs
SET status = 'FAILED', finished_at = :now, updated_at = :now, worker = NULL, lease_until = NULL, answer = NULL,
    lost_claims = lost_claims + 1, error_code = :code, error_message = :message
WHERE status = 'PROCESSING' AND lease_until <= :now AND lost_claims + 1 >= :most_lost

-- name: claim
WITH RECURSIVE working AS (
    SELECT owner, count(*) AS jobs FROM research_jobs WHERE status = 'PROCESSING' AND lease_until > :now GROUP BY owner
),
-- Steps from owner to owner of queued jobs, up to the first who has none in process: so the queue is not searched for
-- such an owner where there is none.
waiting AS (
    SELECT min(owner) AS owner FROM research_jobs WHERE status = 'QUEUED'
    UNION ALL
    SELECT (SELECT min(job.owner) FROM research_jobs AS job WHERE job.status = 'QUEUED' AND job.owner > waiting.owner)
    FROM waiting WHERE waiting.owner IN (SELECT owner FROM working)
),
claimable AS (
    SELECT id FROM (
        SELECT id FROM research_jobs
        WHERE status = 'QUEUED' AND expires_at > :now AND owner NOT IN (SELECT owner FROM working)
            AND EXISTS (SELECT 1 FROM waiting WHERE owner NOT IN (SELECT owner FROM working))
        ORDER BY start_tag, created_at, id LIMIT 1
    ) AS first_of_others
    UNION ALL
    SELECT (
        SELECT job.id FROM research_jobs AS job
        WHERE job.status = 'QUEUED' AND job.owner = working.owner AND job.expires_at > :now
        ORDER BY job.start_tag, job.created_at, job.id LIMIT 1
    )
    FROM working
    UNION ALL
    SELECT id FROM research_jobs WHERE status = 'PROCESSING' AND lease_until <= :now AND expires_at > :now
)
UPDATE research_jobs
SET status = 'PROCESSING', attempt = attempt + 1, lost_claims = lost_claims + CASE status WHEN 'PROCESSING' THEN 1 ELSE 0 END,
    worker = :worker, lease_until = :lease_until, started_at = coalesce(started_at, :now), updated_at = :now
WHERE id = (
    SELECT job.id
    FROM claimable JOIN research_jobs AS job ON job.id = claimable.id LEFT JOIN working ON working.owner = job.owner
    WHERE (SELECT coalesce(sum(jobs), 0) FROM working) < :at_most
    ORDER BY coalesce(working.jobs, 0), job.start_tag, job.created_at, job.id
    LIMIT 1
)
RETURNING *

-- name: heartbeat
UPDATE research_jobs SET lease_until = :lease_until
WHERE id = :id AND attempt = :token AND status = 'PROCESSING'
RETURNING cancel_requested

-- name: progress
UPDATE research_jobs SET stage = :stage, progress = CASE WHEN progress < :fraction THEN :fraction ELSE progress END, answer = NULL, updated_at = :now
WHERE id = :id AND attempt = :token AND status = 'PROCESSING'
RETURNING cancel_requested

-- name: hold
SELECT 1 FROM research_jobs WHERE id = :id AND attempt = :token AND status = 'PROCESSING'

-- name: delete_sources
DELETE FROM research_sources WHERE job_id = :id

-- name: insert_source
INSERT INTO research_sources (job_id, source_id, title, url, published_at, provider, retrieval_method, tier, authority,
                              recency, relevance, credibility, composite)
VALUES (:id, :source_id, :title, :url, :published_at, :provider, :retrieval_method, :tier, :authority, :recency,
        :relevance, :credibility, :composite)

-- name: finish
UPDATE research_jobs
SET status = CASE WHEN :status = 'AWAITING_INPUT' AND cancel_requested = 1 THEN 'QUEUED' ELSE :status END,
    waiting_for = CASE cancel_requested WHEN 1 THEN NULL ELSE :waiting_for END, updated_at = :now,
    finished_at = CASE :status WHEN 'AWAITING_INPUT' THEN NULL ELSE :now END,
    progress = CASE :status WHEN 'COMPLETED' THEN 1 ELSE progress END, answer = NULL,
    error_code = :error_code, error_message = :error_message, worker = NULL, lease_until = NULL
WHERE id = :id AND attempt = :token AND status = 'PROCESSING'

-- name: put_result
INSERT INTO research_results (job_id, markdown, citations, claims, tokens, confidence, claim_count, source_count,
                              has_contradictions)
VALUES (:id, :markdown, :citations, :claims, :tokens, :confidence, :claim_count, :source_count, :has_contradictions)
ON CONFLICT (job_id) DO UPDATE
SET markdown = excluded.markdown, citations = excluded.citations, claims = excluded.claims, tokens = excluded.tokens,
    confidence = excluded.confidence, claim_count = excluded.claim_count, source_count = excluded.source_count,
    has_contradictions = excluded.has_contradictions

-- name: release
UPDATE research_jobs
SET status = 'QUEUED', worker = NULL, lease_until = NULL, updated_at = :now,
    start_tag = coalesce((SELECT min(start_tag) FROM research_jobs WHERE status = 'QUEUED'), start_tag)
WHERE id = :id AND attempt = :token AND status = 'PROCESSING'

-- name: expire
UPDATE research_jobs
SET status = 'EXPIRED', finished_at = :now, updated_at = :now, worker = NULL, lease_until = NULL, waiting_for = NULL,
    answer = NULL
WHERE finished_at IS NULL AND expires_at <= :now
RETURNING *

-- name: outdated
SELECT * FROM research_jobs WHERE finished_at IS NOT NULL AND finished_at <= :ended_by ORDER BY finished_at, id

-- name: needed_runs
SELECT id FROM research_jobs WHERE finished_at IS NULL OR keeps_run = 0

-- name: delete_result
DELETE FROM research_results WHERE job_id = :id

-- name: delete_job
DELETE FROM research_jobs WHERE id = :id
