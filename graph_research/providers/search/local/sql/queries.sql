-- name: add_folder
INSERT INTO folders (path) VALUES (:path) ON CONFLICT (path) DO NOTHING

-- name: folder
SELECT id FROM folders WHERE path = :path

-- name: folders
SELECT folders.path AS path, count(documents.id) AS documents
FROM folders LEFT JOIN documents ON documents.folder = folders.id AND documents.reason IS NULL
GROUP BY folders.id ORDER BY folders.path

-- name: known
SELECT id, url, path, mtime_ns, size, bytes_hash, reason, entry FROM documents WHERE folder = :folder

-- name: documents
SELECT folders.path AS folder, documents.*
FROM documents JOIN folders ON folders.id = documents.folder
WHERE documents.reason IS NULL ORDER BY folders.path, documents.url

-- name: touch
UPDATE documents SET mtime_ns = :mtime_ns, size = :size, path = :path WHERE id = :id

-- name: describe
UPDATE documents SET entry = :entry WHERE id = :id

-- name: insert_document
INSERT INTO documents (folder, url, path, mtime_ns, size, bytes_hash, reason, source_id, own_title, content_type,
                       text_hash, text, layout, prose, passages, entry)
VALUES (:folder, :url, :path, :mtime_ns, :size, :bytes_hash, :reason, :source_id, :own_title, :content_type,
        :text_hash, :text, :layout, :prose, :passages, :entry)

-- name: insert_passage
INSERT INTO passages (document, start, end) VALUES (:document, :start, :end)

-- name: insert_words
INSERT INTO words (rowid, title, heading, body, parts) VALUES (:id, :title, :heading, :body, :parts)

-- name: at_url
SELECT id FROM documents WHERE folder = :folder AND url = :url

-- name: delete_words
DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document = :document)

-- name: delete_passages
DELETE FROM passages WHERE document = :document

-- name: delete_document
DELETE FROM documents WHERE id = :document

-- name: delete_folder
DELETE FROM folders WHERE id = :folder

-- name: ids_in_folder
SELECT id FROM documents WHERE folder = :folder

-- name: ids_at_path
SELECT id FROM documents WHERE path = :path

-- name: size
SELECT count(*) AS documents, coalesce(sum(passages), 0) AS passages FROM documents
WHERE reason IS NULL AND (:folders IS NULL OR folder IN (SELECT value FROM json_each(:folders)))

-- name: best_passages
SELECT words.rowid AS id, passages.document AS document, passages.start AS start, passages.end AS end
FROM words JOIN passages ON passages.id = words.rowid JOIN documents ON documents.id = passages.document
WHERE words MATCH :match
  AND (:folders IS NULL OR documents.folder IN (SELECT value FROM json_each(:folders)))
ORDER BY bm25(words, 1.5, 2.0, 1.0, 0.8), words.rowid LIMIT :limit

-- name: scores
SELECT words.rowid AS id, -bm25(words, 1.5, 2.0, 1.0, 0.8) AS score FROM words
WHERE words MATCH :match AND +words.rowid IN (SELECT value FROM json_each(:ids))

-- name: matching
SELECT count(*) AS passages FROM words WHERE words MATCH :match

-- name: documents_with
SELECT passages.document AS document, count(*) AS passages
FROM words JOIN passages ON passages.id = words.rowid JOIN documents ON documents.id = passages.document
WHERE words MATCH :match
  AND (:folders IS NULL OR documents.folder IN (SELECT value FROM json_each(:folders)))
GROUP BY passages.document

-- name: facts
SELECT id, folder, url, source_id, own_title, content_type, text_hash, prose, passages, entry
FROM documents WHERE id IN (SELECT value FROM json_each(:ids))

-- name: text
SELECT text, layout FROM documents WHERE id = :id
