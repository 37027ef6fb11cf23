-- What a run's ids and random numbers derive from: its own id, or that of the run a fork goes back to.

ALTER TABLE runs ADD COLUMN seed TEXT NOT NULL DEFAULT '';

UPDATE runs SET seed = run_id
