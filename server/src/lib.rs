//! Reference backend.
