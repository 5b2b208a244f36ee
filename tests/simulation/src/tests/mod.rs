//! The simulation's own tests.
