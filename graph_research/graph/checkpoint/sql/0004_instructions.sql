-- What users told runs while they were under way, by number from 1.

CREATE TABLE instructions (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
