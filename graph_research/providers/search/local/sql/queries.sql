-- name: add_folder
INSERT INTO folders (path) VALUES (:path) ON CONFLICT (path) DO NOTHING

-- name: folder
SELECT id FROM folders WHERE path = :path

-- name: folders
SELECT path, (SELECT count(*) FROM documents WHERE folder = folders.id AND reason IS NULL) AS documents,
       (SELECT count(*) FROM omissions WHERE folder = folders.id AND NOT partly) AS unread,
       (SELECT count(*) FROM omissions WHERE folder = folders.id AND partly) AS partly
FROM folders ORDER BY path

-- name: omissions
SELECT folders.path AS folder, omissions.path AS path, reason, partly
FROM omissions JOIN folders ON folders.id = omissions.folder ORDER BY folders.path, omissions.rowid

-- name: delete_omissions
DELETE FROM omissions WHERE folder = :folder

-- name: insert_omission
INSERT INTO omissions (folder, path, reason, partly) VALUES (:folder, :path, :reason, :partly)

-- name: known
SELECT id, url, path, mtime_ns, size, bytes_hash, reason, entry, warnings, own_title FROM documents WHERE folder = :folder

-- name: documents
SELECT folders.path AS root, documents.*
FROM documents JOIN folders ON folders.id = documents.folder
WHERE documents.reason IS NULL ORDER BY folders.path, documents.url

-- name: touch
UPDATE documents SET mtime_ns = :mtime_ns, size = :size, path = :path WHERE id = :id

-- name: describe
UPDATE documents SET entry = :entry WHERE id = :id

-- name: insert_document
INSERT INTO documents (folder, url, path, mtime_ns, size, bytes_hash, reason, source_id, own_title, content_type,
                       text_hash, language, text, layout, entry, warnings, own_date, says_superseded)
VALUES (:folder, :url, :path, :mtime_ns, :size, :bytes_hash, :reason, :source_id, :own_title, :content_type,
        :text_hash, :language, :text, :layout, :entry, :warnings, :own_date, :says_superseded)

-- name: insert_passage
INSERT INTO passages (document, start, end) VALUES (:document, :start, :end)

-- name: insert_words
INSERT INTO words (rowid, folder, title, heading, body) VALUES (:id, :folder, :title, :heading, :body)

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

-- name: readable_at_url
SELECT documents.id AS id FROM documents JOIN folders ON folders.id = documents.folder
WHERE folders.path = :folder AND url = :url AND text IS NOT NULL

-- name: languages
SELECT DISTINCT language FROM documents
WHERE language IS NOT NULL AND (:folders IS NULL OR folder IN (SELECT value FROM json_each(:folders)))
ORDER BY language

-- name: best_passages
SELECT best.id, best.value, passages.start, passages.end, passages.document, url, path, source_id, own_title,
       content_type, text_hash, bytes_hash, entry, documents.folder AS folder, superseded
FROM (SELECT rowid AS id, -bm25(words, 0.0, 4.0, 1.0, 1.0) AS value FROM words WHERE words MATCH :match
      ORDER BY value DESC, rowid LIMIT :limit) AS best
JOIN passages ON passages.id = best.id JOIN documents ON documents.id = passages.document
ORDER BY best.value DESC, url, path, passages.start

-- name: terms_in_passage
SELECT value AS term FROM json_each(:terms)
WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH '"' || value || '"' AND words.rowid = :id)

-- name: versions
SELECT id, url, own_title, own_date, says_superseded, superseded FROM documents WHERE folder = :folder AND reason IS NULL

-- name: supersede
UPDATE documents SET superseded = :by WHERE id = :id

-- name: text
SELECT text, layout FROM documents WHERE id = :id
