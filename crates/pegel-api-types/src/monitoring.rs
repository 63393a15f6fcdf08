//! What is watched, and over which channels people are told.

pub mod channels;
pub mod monitors;

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Serializer;
use serde::ser::SerializeMap as _;

/// Values of secrets by the name of the field that they belong to. They go in and never come out.
pub type SecretValues = BTreeMap<String, SecretString>;

fn expose<S: Serializer>(secrets: &SecretValues, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(secrets.len()))?;
    for (field, value) in secrets {
        map.serialize_entry(field, value.expose_secret())?;
    }
    map.end()
}
