-- The library's index. It is a cache: everything in it can be made again from the folders.

CREATE TABLE folders (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
);

-- A row with a reason is a file that gives no text, kept so that it is not tried again until it changes.
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
    text         BLOB,
    layout       BLOB,
    UNIQUE (folder, url)
);

CREATE INDEX documents_language ON documents (language, folder);

CREATE TABLE passages (
    id       INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id),
    start    INTEGER NOT NULL,
    end      INTEGER NOT NULL
);

CREATE INDEX passages_document ON passages (document);

-- One row a passage, with its id. The columns hold stems, and `folder` the term of the folder: a search in some folders
-- is a search for their terms.
CREATE VIRTUAL TABLE words USING fts5 (
    folder, title, heading, body, tokenize = "unicode61 remove_diacritics 2 tokenchars '.'"
);
