//! A real browser against the real server.
