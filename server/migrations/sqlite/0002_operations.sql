ALTER TABLE owners RENAME COLUMN name TO owner;

-- One row for each operation that was done, written by the transaction that did it.
CREATE TABLE operations (
  owner TEXT NOT NULL REFERENCES owners (owner),
  key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  -- What was asked, and of which row where the address names one.
  endpoint TEXT NOT NULL,
  target TEXT NOT NULL,
  -- The row that was made or changed.
  row_id INTEGER NOT NULL,
  fingerprint_version INTEGER NOT NULL,
  fingerprint BLOB NOT NULL,
  raw_hash BLOB NOT NULL,
  -- The answer, for replays. Null where the row itself is answer enough, and once the row is deleted.
  answer TEXT,
  -- Unix seconds. Null for creates: their keys are never forgotten.
  expires_at INTEGER,
  PRIMARY KEY (owner, key)
) STRICT;
CREATE INDEX operations_expiring ON operations (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX operations_answered ON operations (owner, row_id) WHERE answer IS NOT NULL;

INSERT INTO operations (owner, key, endpoint, target, row_id, fingerprint_version, fingerprint, raw_hash)
  SELECT owner, client_memory_id, 'memories.create', '', id, fingerprint_version, fingerprint, raw_hash FROM memories;

-- The newest id given out in each table: an id is never given out twice, whatever is deleted.
CREATE TABLE sequences (
  name TEXT PRIMARY KEY NOT NULL,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sequences (name, last) VALUES
  ('memories', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0)),
  ('invoices', 0),
  ('registrations', 0);

CREATE TABLE memories_by_owner (
  owner TEXT NOT NULL REFERENCES owners (owner),
  id INTEGER PRIMARY KEY NOT NULL,
  client_memory_id TEXT NOT NULL CHECK (length(client_memory_id) = 36 AND client_memory_id = lower(client_memory_id)),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  -- What the device said, to the letter; never parsed here.
  created_at TEXT,
  -- A JSON object of the members that have no column.
  extra TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  -- Taken at the end of the transaction, under the owner's lock: who reads on from a number misses nothing.
  change_number INTEGER NOT NULL,
  deleted INTEGER NOT NULL DEFAULT FALSE CHECK (deleted IN (0, 1)),
  UNIQUE (owner, client_memory_id),
  UNIQUE (owner, change_number)
) STRICT;
INSERT INTO memories_by_owner
  SELECT owner, id, client_memory_id, title, body, created_at, extra, revision, change_number, deleted FROM memories;
DROP TABLE memories;
ALTER TABLE memories_by_owner RENAME TO memories;

CREATE TABLE invoices (
  owner TEXT NOT NULL REFERENCES owners (owner),
  id INTEGER PRIMARY KEY NOT NULL,
  idempotency_key TEXT NOT NULL,
  change_number INTEGER NOT NULL,
  terminal_id TEXT NOT NULL,
  number TEXT NOT NULL,
  total TEXT NOT NULL,
  currency TEXT NOT NULL,
  UNIQUE (owner, idempotency_key),
  UNIQUE (owner, change_number),
  UNIQUE (owner, terminal_id, number)
) STRICT;

CREATE TABLE registrations (
  owner TEXT NOT NULL REFERENCES owners (owner),
  id INTEGER PRIMARY KEY NOT NULL,
  idempotency_key TEXT NOT NULL,
  change_number INTEGER NOT NULL,
  event TEXT NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (owner, idempotency_key),
  UNIQUE (owner, change_number),
  UNIQUE (owner, event, email)
) STRICT;
