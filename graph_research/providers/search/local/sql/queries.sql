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
                       text_hash, language, text, layout, entry, warnings, own_date, says_superseded, passages, length)
VALUES (:folder, :url, :path, :mtime_ns, :size, :bytes_hash, :reason, :source_id, :own_title, :content_type,
        :text_hash, :language, :text, :layout, :entry, :warnings, :own_date, :says_superseded, :passages, :length)

-- name: last_passage
SELECT coalesce(max(id), 0) AS id FROM passages WHERE id < :before

-- name: insert_passage
INSERT INTO passages (id, document, start, end, said) VALUES (:id, :document, :start, :end, :said)

-- name: insert_words
INSERT INTO words (rowid, title, heading, body) VALUES (:id, :title, :heading, :body)

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
SELECT language, sum(passages) AS passages, sum(length) AS length FROM documents
WHERE language IS NOT NULL AND (:folders IS NULL OR folder IN (SELECT value FROM json_each(:folders)))
GROUP BY language ORDER BY language

-- name: passages_in
SELECT group_concat(passages.id) AS ids FROM documents JOIN passages ON passages.document = documents.id
WHERE language = :language AND (:folders IS NULL OR folder IN (SELECT value FROM json_each(:folders)))

-- name: occurrences
SELECT group_concat(doc) AS anywhere, group_concat(CASE col WHEN 'title' THEN doc END) AS in_title
FROM terms WHERE term = :term

-- name: occurrences_of_version
SELECT group_concat(doc) AS anywhere, group_concat(CASE col WHEN 'title' THEN doc END) AS in_title
FROM terms WHERE term = :term OR (term >= :term || '.' AND term < :term || '/')

-- name: passages
SELECT passages.id AS id, passages.start, passages.end, passages.document, url, folders.path AS root, documents.path AS path,
       source_id, own_title, content_type, text_hash, bytes_hash, entry, folder, superseded, page
FROM passages JOIN documents ON documents.id = passages.document JOIN folders ON folders.id = documents.folder
WHERE passages.id IN (SELECT value FROM json_each(:ids)) ORDER BY url, documents.path, passages.start

-- name: relations
SELECT id, url, own_title, own_date, says_superseded, superseded, language, text_hash, page FROM documents WHERE folder = :folder AND reason IS NULL

-- name: relate
UPDATE documents SET superseded = :superseded, page = :page WHERE id = :id

-- name: dates
SELECT documents.id AS id, folders.path AS root, url, own_date, date_of_set
FROM documents JOIN folders ON folders.id = documents.folder WHERE own_date <> ''

-- name: date
UPDATE documents SET date_of_set = :date_of_set WHERE id = :id

-- name: short_passages
SELECT passages.id AS id, url, said, furniture
FROM documents JOIN passages ON passages.document = documents.id WHERE folder = :folder
UNION ALL SELECT 0, url, '', 0 FROM documents WHERE folder = :folder AND reason IS NULL AND passages = 0

-- name: mark_furniture
UPDATE passages SET furniture = 1 WHERE id = :id

-- name: delete_words_of
DELETE FROM words WHERE rowid = :id

-- name: furniture
SELECT start, end FROM passages WHERE document = :document AND furniture

-- name: pages
SELECT id, folder, page, url, language FROM documents
WHERE page IS NOT NULL AND (:folders IS NULL OR folder IN (SELECT value FROM json_each(:folders)))
ORDER BY folder, page, url

-- name: passages_of
SELECT group_concat(id) AS ids FROM passages WHERE document IN (SELECT value FROM json_each(:documents))

-- name: text
SELECT text FROM documents WHERE id = :id

-- name: layout
SELECT layout, date_of_set FROM documents WHERE id = :id
