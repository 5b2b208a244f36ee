//! The scenarios. One of them alone: `cargo xtask test --only end_to_end --filter NAME`.

mod answers;
mod cross_origin;
mod harness;
mod lost_answers;
mod memories;
mod outages;
mod page;
mod quota;
mod tabs;
mod values;
