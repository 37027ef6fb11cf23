-- name: take_lease
INSERT INTO leases AS held (run_id, token, owner, expires_at)
VALUES (%(run_id)s, 1, %(owner)s, clock_timestamp() + %(seconds)s * interval '1 second')
ON CONFLICT (run_id) DO UPDATE
SET token = held.token + 1, owner = excluded.owner, expires_at = excluded.expires_at
WHERE held.expires_at <= clock_timestamp() OR (%(lost)s AND held.owner = excluded.owner)
RETURNING token

-- name: renew_leases
UPDATE leases SET expires_at = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE owner = %(owner)s AND expires_at > '-infinity' AND (run_id, token) IN (SELECT * FROM unnest(%(run_ids)s::text[], %(tokens)s::bigint[]))

-- name: end_lease
UPDATE leases SET expires_at = '-infinity' WHERE run_id = %(run_id)s AND owner = %(owner)s AND token = %(token)s

-- name: live_lease
SELECT owner FROM leases WHERE run_id = %(run_id)s AND expires_at > clock_timestamp()

-- name: require_lease
SELECT require_lease(%(run_id)s, %(owner)s, %(token)s)

-- name: find_run
SELECT id FROM runs WHERE run_id = %(run_id)s

-- name: insert_run
INSERT INTO runs (run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
                  created_at, updated_at, parent, seed)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id) DO NOTHING
RETURNING id

-- name: patch_run
UPDATE runs
SET status = %(status)s, cause = %(cause)s, error = %(error)s, waiting = %(waiting)s, updated_at = %(updated_at)s,
    cancel = cancel AND NOT %(cancel_done)s,
    graph_hash = coalesce(%(graph_hash)s, graph_hash), definition = coalesce(%(definition)s, definition),
    metadata = coalesce(%(metadata)s, metadata)
WHERE id = %(run)s

-- name: one_run
SELECT run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
       created_at, updated_at, parent, seed
FROM runs WHERE run_id = %(run_id)s

-- name: latest_runs
SELECT run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
       created_at, updated_at, parent, seed
FROM runs ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: insert_step
INSERT INTO steps (run, step, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
                   last_seq, events)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)

-- name: last_step
SELECT step, scope, node, visit, item, attempt, status, started_at, seconds, hash, NULL, NULL
FROM steps WHERE run = %(run)s ORDER BY step DESC LIMIT 1

-- name: last_position
SELECT step, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position
FROM steps WHERE run = %(run)s AND scope = '' AND position IS NOT NULL ORDER BY step DESC LIMIT 1

-- name: all_steps
SELECT step, scope, node, visit, item, attempt, status, started_at, seconds, hash, NULL, NULL
FROM steps WHERE run = %(run)s AND step > %(after)s AND step <= %(upto)s ORDER BY step

-- name: scope_steps
SELECT step, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position
FROM steps WHERE run = %(run)s AND scope = %(scope)s AND step > %(after)s AND step <= %(upto)s ORDER BY step

-- name: has_step
SELECT 1 FROM steps WHERE run = %(run)s AND step = %(step)s AND hash = %(hash)s

-- name: insert_snapshot
INSERT INTO snapshots (run, scope, step, content, hash, position) VALUES (%s, %s, %s, %s, %s, %s)

-- name: latest_snapshot
SELECT scope, step, content, hash, position
FROM snapshots WHERE run = %(run)s AND scope = %(scope)s AND step <= %(upto)s ORDER BY step DESC LIMIT 1

-- name: insert_events
INSERT INTO events (run, last_seq, batch) VALUES (%s, %s, %s)

-- name: has_events
SELECT 1 FROM events WHERE run = %(run)s AND last_seq = %(last_seq)s AND batch = %(batch)s

-- name: events_after
SELECT last_seq, batch FROM (
    SELECT last_seq, batch FROM events WHERE run = %(run)s AND last_seq > %(after)s
    UNION ALL
    SELECT last_seq, events FROM steps WHERE run = %(run)s AND last_seq > %(after)s) AS batches
ORDER BY last_seq

-- name: last_seq
SELECT greatest(
    (SELECT coalesce(max(last_seq), 0) FROM events WHERE run = %(run)s),
    (SELECT coalesce(max(last_seq), 0) FROM steps WHERE run = %(run)s))

-- name: put_call
INSERT INTO calls (run, seq, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at,
                   seconds, request, answer)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run, seq) DO UPDATE
SET attempt_key = excluded.attempt_key, path = excluded.path, visit = excluded.visit, item = excluded.item,
    attempt = excluded.attempt, kind = excluded.kind, request_hash = excluded.request_hash,
    ordinal = excluded.ordinal, status = excluded.status, started_at = excluded.started_at,
    seconds = excluded.seconds, request = excluded.request, answer = excluded.answer

-- name: call_keys
SELECT attempt_key, max(seq) FROM calls WHERE run = %(run)s GROUP BY attempt_key

-- name: all_calls
SELECT seq, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at, seconds,
       request, answer
FROM calls WHERE run = %(run)s ORDER BY seq

-- name: calls_of_attempt
SELECT seq, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at, seconds,
       request, answer
FROM calls WHERE run = %(run)s AND attempt_key = %(key)s ORDER BY seq

-- name: lose_calls
UPDATE calls SET status = 'lost' WHERE run = %(run)s AND status = 'sent'

-- name: keep_texts_in_place
SELECT pg_advisory_xact_lock_shared(hashtext('graph_research texts'))

-- name: remove_texts_alone
SELECT pg_advisory_xact_lock(hashtext('graph_research texts'))

-- name: insert_text
INSERT INTO texts (hash, content) VALUES (%s, %s) ON CONFLICT DO NOTHING

-- name: use_text
INSERT INTO text_uses (hash, run) VALUES (%s, %s) ON CONFLICT DO NOTHING

-- name: share_texts
INSERT INTO text_uses (hash, run)
SELECT hash, %(run)s FROM text_uses WHERE run = (SELECT id FROM runs WHERE run_id = %(owner)s)
ON CONFLICT DO NOTHING

-- name: get_texts
SELECT hash, content FROM texts WHERE hash = ANY(%(hashes)s)

-- name: text_hashes
SELECT hash FROM text_uses WHERE run = %(run)s

-- name: forget_texts
WITH forgotten AS (DELETE FROM text_uses WHERE run = %(run)s AND hash = ANY(%(hashes)s) RETURNING hash)
DELETE FROM texts WHERE hash IN (SELECT hash FROM forgotten)
    AND NOT EXISTS (SELECT 1 FROM text_uses WHERE text_uses.hash = texts.hash AND run <> %(run)s)

-- name: delete_texts
DELETE FROM texts WHERE hash IN (SELECT hash FROM text_uses WHERE run = %(run)s)
    AND NOT EXISTS (SELECT 1 FROM text_uses WHERE text_uses.hash = texts.hash AND run <> %(run)s)

-- name: delete_run
WITH one AS (DELETE FROM steps WHERE run = %(run)s), two AS (DELETE FROM events WHERE run = %(run)s),
     three AS (DELETE FROM calls WHERE run = %(run)s), four AS (DELETE FROM snapshots WHERE run = %(run)s),
     five AS (DELETE FROM text_uses WHERE run = %(run)s), six AS (DELETE FROM instructions WHERE run = %(run)s)
DELETE FROM runs WHERE id = %(run)s

-- name: delete_lease
DELETE FROM leases WHERE run_id = %(run_id)s

-- name: size
SELECT (SELECT coalesce(sum(pg_column_size(content)), 0) FROM texts)
    + (SELECT coalesce(sum(pg_column_size(steps.*)), 0) FROM steps)
    + (SELECT coalesce(sum(pg_column_size(calls.*)), 0) FROM calls)
    + (SELECT coalesce(sum(pg_column_size(events.*)), 0) FROM events)
    + (SELECT coalesce(sum(pg_column_size(snapshots.*)), 0) FROM snapshots)
    + (SELECT coalesce(sum(pg_column_size(runs.*)), 0) FROM runs)

-- name: last_instruction
SELECT coalesce(max(number), 0) FROM instructions WHERE run = %(run)s

-- name: instruct_alone
SELECT 1 FROM runs WHERE id = %(run)s FOR NO KEY UPDATE

-- name: instruct
INSERT INTO instructions (run, number, kind, content)
SELECT %(run)s, coalesce(max(number), 0) + 1, %(kind)s, %(content)s FROM instructions WHERE run = %(run)s
HAVING count(*) FILTER (WHERE number > %(unless_after)s AND kind = %(kind)s AND content = %(content)s) = 0

-- name: instructions
SELECT kind, content FROM instructions WHERE run = %(run)s ORDER BY number

-- name: request_cancel
UPDATE runs SET cancel = true WHERE id = %(run)s AND status NOT IN ('completed', 'aborted', 'failed')

-- name: cancel_requested
SELECT cancel FROM runs WHERE id = %(run)s
