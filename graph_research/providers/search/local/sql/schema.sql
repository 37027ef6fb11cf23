-- The library's index. It is a cache: everything in it can be made again from the folders.

CREATE TABLE folders (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
);

-- What the last indexing of a folder left out: files that were not read, and with partly = 1 files of which only a part
-- is in the index.
CREATE TABLE omissions (
    folder INTEGER NOT NULL REFERENCES folders (id),
    path   TEXT NOT NULL,
    reason TEXT NOT NULL,
    partly INTEGER NOT NULL
);

CREATE INDEX omissions_folder ON omissions (folder);

-- A row with a reason is a file that gives no text, kept so that it is not tried again until it changes. The documents of
-- an archive have its path, time, size and hash, and a URL below its own. warnings is a JSON list.
-- passages and length count its passages and their terms. superseded is NULL, the URL of a newer version in the folder, or empty where the document says so itself.
-- page is NULL, or the path without language or suffix of a page that the folder has in several languages or formats.
-- date_of_set is 1 where own_date is that of most dated documents of a folder that it stands in.
CREATE TABLE documents (
    id           INTEGER PRIMARY KEY,
    folder       INTEGER NOT NULL REFERENCES folders (id),
    url          TEXT NOT NULL,
    path         TEXT NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    size         INTEGER NOT NULL,
    bytes_hash   TEXT NOT NULL,
    reason       TEXT,
    source_id    TEXT,
    own_title    TEXT,
    content_type TEXT,
    text_hash    TEXT,
    language     TEXT,
    entry        TEXT,
    warnings     TEXT NOT NULL,
    own_date     TEXT,
    says_superseded INTEGER,
    passages     INTEGER NOT NULL,
    length       INTEGER NOT NULL,
    superseded   TEXT,
    page         TEXT,
    date_of_set  INTEGER NOT NULL DEFAULT 0,
    text         BLOB,
    layout       BLOB,
    UNIQUE (folder, url)
);

CREATE INDEX documents_page ON documents (folder, page, url, language) WHERE page IS NOT NULL;

CREATE INDEX documents_language ON documents (language, folder, passages, length);

-- The id has the folder's id, a number and how many terms the passage has (passage_ids.py), so that a search ranks
-- passages by the ids that the index of words gives, without a look at each. said is the text of a short one, else
-- empty; furniture is 1 where it stands in most documents of a folder, and has no row in words.
CREATE TABLE passages (
    id       INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id),
    start    INTEGER NOT NULL,
    end      INTEGER NOT NULL,
    said     TEXT NOT NULL,
    furniture INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX passages_document ON passages (document);

-- One row a passage, with its id. The columns hold terms, which are taken as they are.
CREATE VIRTUAL TABLE words USING fts5 (title, heading, body, tokenize = "ascii tokenchars '._'");

-- Where each term stands: `bm25` of FTS5 would count the passages of folders that are not searched.
CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance);
