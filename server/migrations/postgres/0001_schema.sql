-- Every unique key of a row begins with its owner, and ids come from sequences of their own, so that these tables can be
-- distributed by owner: by hash partitions, or over the nodes of a cluster. `tokens` is looked up before the owner is
-- known, and stays whole.

CREATE TABLE owners (
  owner TEXT COLLATE "C" PRIMARY KEY,
  -- The newest change number given out; every change of one of this owner's rows takes the next.
  last_change BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE tokens (
  token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  owner TEXT COLLATE "C" NOT NULL REFERENCES owners (owner)
);

-- One row for each operation that was done, written by the transaction that did it.
CREATE TABLE operations (
  owner TEXT COLLATE "C" NOT NULL REFERENCES owners (owner),
  key TEXT COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  -- What was asked, and of which row where the address names one.
  endpoint TEXT NOT NULL,
  target TEXT NOT NULL,
  -- The row that was made or changed.
  row_id BIGINT NOT NULL,
  fingerprint_version BIGINT NOT NULL,
  fingerprint BYTEA NOT NULL,
  raw_hash BYTEA NOT NULL,
  -- The answer, for replays. Null where the row itself is answer enough, and once the row is deleted.
  answer TEXT,
  -- Unix seconds. Null for creates: their keys are never forgotten.
  expires_at BIGINT,
  PRIMARY KEY (owner, key)
);
CREATE INDEX operations_expiring ON operations (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX operations_answered ON operations (owner, row_id) WHERE answer IS NOT NULL;

CREATE SEQUENCE memories_id AS BIGINT;
CREATE TABLE memories (
  owner TEXT COLLATE "C" NOT NULL REFERENCES owners (owner),
  id BIGINT NOT NULL,
  client_memory_id TEXT COLLATE "C" NOT NULL
    CHECK (octet_length(client_memory_id) = 36 AND client_memory_id = lower(client_memory_id)),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  -- What the device said, to the letter; never parsed here.
  created_at TEXT,
  -- A JSON object of the members that have no column.
  extra TEXT NOT NULL,
  revision BIGINT NOT NULL DEFAULT 1,
  -- Taken at the end of the transaction, under the owner's lock: who reads on from a number misses nothing.
  change_number BIGINT NOT NULL,
  deleted BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (owner, id),
  CONSTRAINT memories_client_id UNIQUE (owner, client_memory_id),
  CONSTRAINT memories_change UNIQUE (owner, change_number)
);

CREATE SEQUENCE invoices_id AS BIGINT;
CREATE TABLE invoices (
  owner TEXT COLLATE "C" NOT NULL REFERENCES owners (owner),
  id BIGINT NOT NULL,
  idempotency_key TEXT COLLATE "C" NOT NULL,
  change_number BIGINT NOT NULL,
  terminal_id TEXT NOT NULL,
  number TEXT NOT NULL,
  total NUMERIC NOT NULL,
  currency TEXT NOT NULL,
  PRIMARY KEY (owner, id),
  CONSTRAINT invoices_key UNIQUE (owner, idempotency_key),
  CONSTRAINT invoices_change UNIQUE (owner, change_number),
  CONSTRAINT invoices_business_key UNIQUE (owner, terminal_id, number)
);

CREATE SEQUENCE registrations_id AS BIGINT;
CREATE TABLE registrations (
  owner TEXT COLLATE "C" NOT NULL REFERENCES owners (owner),
  id BIGINT NOT NULL,
  idempotency_key TEXT COLLATE "C" NOT NULL,
  change_number BIGINT NOT NULL,
  event TEXT NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (owner, id),
  CONSTRAINT registrations_key UNIQUE (owner, idempotency_key),
  CONSTRAINT registrations_change UNIQUE (owner, change_number),
  CONSTRAINT registrations_business_key UNIQUE (owner, event, email)
);
