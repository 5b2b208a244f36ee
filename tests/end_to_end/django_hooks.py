"""What the checker does to the Django example, from inside its database: `prepare`, then `slow MILLISECONDS`, `fail`
(the next operation, once) and `reset`. The example itself knows nothing of it."""

import os
import sys

import psycopg

PREPARE = """
CREATE TABLE hooks (pause_ms int NOT NULL, fails bool NOT NULL);
INSERT INTO hooks VALUES (0, false);
-- A sequence is not rolled back, so what failed once has failed.
CREATE SEQUENCE asked;
CREATE FUNCTION hooks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    told hooks%ROWTYPE;
BEGIN
    SELECT * INTO told FROM hooks;
    PERFORM pg_sleep(told.pause_ms / 1000.0);
    IF told.fails AND nextval('asked') = 1 THEN
        RAISE EXCEPTION 'on purpose';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hooks BEFORE INSERT ON promise_operation FOR EACH ROW EXECUTE FUNCTION hooks();
"""

match sys.argv[1:]:
    case ["prepare"]:
        statement = PREPARE
    case ["slow", milliseconds]:
        statement = f"UPDATE hooks SET pause_ms = {int(milliseconds)}"
    case ["fail"]:
        statement = "SELECT setval('asked', 1, false); UPDATE hooks SET fails = true"
    case ["reset"]:
        statement = "UPDATE hooks SET pause_ms = 0, fails = false"
    case other:
        sys.exit(f"unknown: {other}")
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute(statement)
