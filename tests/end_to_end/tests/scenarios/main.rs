//! The scenarios. One of them alone: `cargo xtask test --only end_to_end --filter NAME`.

mod harness;
