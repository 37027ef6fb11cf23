-- name: find_run
SELECT id FROM runs WHERE run_id = :run_id

-- name: insert_run
INSERT INTO runs (run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
                  created_at, updated_at, parent, seed, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: patch_run
UPDATE runs
SET status = :status, cause = :cause, error = :error, waiting = :waiting, updated_at = :updated_at,
    cancel = CASE WHEN :cancel_done THEN 0 ELSE cancel END,
    graph_hash = coalesce(:graph_hash, graph_hash), definition = coalesce(:definition, definition),
    metadata = coalesce(:metadata, metadata)
WHERE id = :run

-- name: run_by_number
SELECT run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
       created_at, updated_at, parent, seed, checksum
FROM runs WHERE id = :run

-- name: seal_run
UPDATE runs SET checksum = :checksum WHERE id = :run

-- name: one_run
SELECT run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
       created_at, updated_at, parent, seed, checksum
FROM runs WHERE run_id = :run_id

-- name: latest_runs
SELECT run_id, graph, graph_hash, definition, status, cause, error, metadata, input, waiting,
       created_at, updated_at, parent, seed, checksum
FROM runs ORDER BY created_at DESC, id DESC LIMIT :limit

-- name: insert_step
INSERT INTO steps (id, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
                   last_seq, events, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: last_step
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, NULL, NULL,
       last_seq, checksum
FROM steps WHERE id BETWEEN :low AND :high ORDER BY id DESC LIMIT 1

-- name: last_position
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
       last_seq, events, checksum
FROM steps WHERE id BETWEEN :low AND :high AND scope = '' AND position IS NOT NULL ORDER BY id DESC LIMIT 1

-- name: all_steps
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, NULL, NULL,
       last_seq, checksum
FROM steps WHERE id BETWEEN :low AND :high ORDER BY id

-- name: root_steps
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
       last_seq, events, checksum
FROM steps WHERE id BETWEEN :low AND :high AND scope = '' ORDER BY id

-- name: scope_steps
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
       last_seq, events, checksum
FROM steps WHERE id >> 32 = :run AND scope <> '' AND scope = :scope AND id BETWEEN :low AND :high ORDER BY id

-- name: insert_snapshot
INSERT INTO snapshots (run, scope, step, content, hash, position, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: latest_snapshot
SELECT scope, step, content, hash, position, checksum
FROM snapshots WHERE run = :run AND scope = :scope AND step <= :upto ORDER BY step DESC LIMIT 1

-- name: insert_events
INSERT INTO events (id, batch, checksum) VALUES (?, ?, ?)

-- name: events_after
SELECT id & 4294967295, batch, checksum FROM events WHERE id BETWEEN :low AND :high ORDER BY id

-- name: steps_with_events
SELECT id & 4294967295, scope, node, visit, item, attempt, status, started_at, seconds, hash, delta, position,
       last_seq, events, checksum
FROM steps WHERE id BETWEEN :low AND :high AND events IS NOT NULL ORDER BY id DESC

-- name: last_seq
SELECT max(
    (SELECT coalesce(max(id) & 4294967295, 0) FROM events WHERE id BETWEEN :low AND :high),
    (SELECT coalesce(max(last_seq), 0) FROM (
        SELECT last_seq FROM steps WHERE id BETWEEN :low AND :high AND events IS NOT NULL ORDER BY id DESC LIMIT 1)))

-- name: put_call
INSERT OR REPLACE INTO calls (id, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at,
                              seconds, request, answer, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: call_keys
SELECT DISTINCT attempt_key FROM calls WHERE id >> 32 = :run

-- name: last_call
SELECT coalesce(max(id) & 4294967295, 0) FROM calls WHERE id BETWEEN :low AND :high

-- name: all_calls
SELECT id & 4294967295, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at, seconds,
       request, answer, checksum
FROM calls WHERE id BETWEEN :low AND :high ORDER BY id

-- name: calls_of_attempt
SELECT id & 4294967295, attempt_key, path, visit, item, attempt, kind, request_hash, ordinal, status, started_at, seconds,
       request, answer, checksum
FROM calls WHERE id >> 32 = :run AND attempt_key = :key ORDER BY id

-- name: lose_calls
UPDATE calls SET status = 'lost' WHERE id BETWEEN :low AND :high AND status = 'sent'

-- name: insert_text
INSERT OR IGNORE INTO texts (hash, compressed, content) VALUES (?, ?, ?)

-- name: use_text
INSERT OR IGNORE INTO text_uses (text, run) SELECT id, ? FROM texts WHERE hash = ?

-- name: has_text
SELECT 1 FROM texts WHERE hash = ?

-- name: get_text
SELECT compressed, content FROM texts WHERE hash = ?

-- name: share_texts
INSERT OR IGNORE INTO text_uses (text, run)
SELECT text, :run FROM text_uses WHERE run = (SELECT id FROM runs WHERE run_id = :owner)

-- name: text_hashes
SELECT hash FROM texts WHERE id IN (SELECT text FROM text_uses WHERE run = :run)

-- name: compact
VACUUM;
PRAGMA wal_checkpoint(TRUNCATE);

-- name: delete_steps
DELETE FROM steps WHERE id BETWEEN :low AND :high

-- name: delete_events
DELETE FROM events WHERE id BETWEEN :low AND :high

-- name: delete_calls
DELETE FROM calls WHERE id BETWEEN :low AND :high

-- name: delete_snapshots
DELETE FROM snapshots WHERE run = :run

-- name: delete_texts
DELETE FROM texts WHERE id IN (SELECT text FROM text_uses WHERE run = :run)
    AND NOT EXISTS (SELECT 1 FROM text_uses WHERE text = texts.id AND run <> :run)

-- name: forget_use
DELETE FROM text_uses WHERE run = :run AND text = (SELECT id FROM texts WHERE hash = :hash)

-- name: delete_unused_text
DELETE FROM texts WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM text_uses WHERE text = texts.id)

-- name: size
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size

-- name: delete_text_uses
DELETE FROM text_uses WHERE run = :run

-- name: delete_run
DELETE FROM runs WHERE id = :run

-- name: delete_instructions
DELETE FROM instructions WHERE run = :run

-- name: instruct
INSERT INTO instructions (run, number, kind, content)
SELECT :run, coalesce(max(number), 0) + 1, :kind, :content FROM instructions WHERE run = :run

-- name: instructions
SELECT kind, content FROM instructions WHERE run = :run ORDER BY number

-- name: request_cancel
UPDATE runs SET cancel = 1 WHERE id = :run AND status NOT IN ('completed', 'aborted', 'failed')

-- name: cancel_requested
SELECT cancel FROM runs WHERE id = :run
