CREATE TABLE owners (
  name TEXT PRIMARY KEY NOT NULL,
  -- The newest change number given out; every change of one of this owner's rows takes the next.
  last_change INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tokens (
  token_hash BLOB PRIMARY KEY NOT NULL CHECK (length(token_hash) = 32),
  owner TEXT NOT NULL REFERENCES owners (name)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
  -- AUTOINCREMENT: an id is never given out twice, whatever is deleted.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL REFERENCES owners (name),
  client_memory_id TEXT NOT NULL CHECK (length(client_memory_id) = 36 AND client_memory_id = lower(client_memory_id)),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  -- What the device said, to the letter; never parsed here.
  created_at TEXT,
  -- A JSON object of the members that have no column.
  extra TEXT NOT NULL,
  -- What the original create was, for ever: an edit does not touch these three.
  fingerprint_version INTEGER NOT NULL,
  fingerprint BLOB NOT NULL,
  raw_hash BLOB NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  -- Null only inside the transaction that inserts: numbers are taken at its end, under the owner's lock.
  change_number INTEGER,
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  UNIQUE (owner, client_memory_id),
  UNIQUE (owner, change_number)
) STRICT;
