//! A throw-away PostgreSQL cluster for tests.
