//! The program as its users run it: in a process of its own, asked over a socket.

pub(crate) mod child;
pub(crate) mod folder;
pub(crate) mod http;
pub(crate) mod postgres;
pub(crate) mod serve;
