-- Ten thousand notes to read; those that are written come after them.
CREATE TABLE notes (
    id bigserial PRIMARY KEY,
    text text NOT NULL,
    written timestamptz NOT NULL DEFAULT now()
);
INSERT INTO notes (text) SELECT 'note ' || n FROM generate_series(1, 10000) AS n;
ANALYZE notes;
