//! Checks any HTTP backend against the contract: one operation, one row.
