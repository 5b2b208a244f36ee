//! What goes over the network, shared by the client core and the reference server.

pub mod capabilities;
pub mod listing;
pub mod problem;
pub mod sync;
