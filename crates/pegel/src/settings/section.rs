//! What a section of the settings is made of: keys, each with its environment variable.
//!
//! A section is declared once; that gives the form it has in the file, the variables that override it, and the
//! list of its keys. Whether values make sense is not decided here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use crate::settings::problem::Problems;

/// Declares a section: for each key its kind and the variable that overrides it.
macro_rules! section {
    ($(#[doc = $doc:literal])+ $name:ident as $table:literal { $($key:ident: $kind:ty = $variable:ident,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct $name { $(pub(super) $key: Option<$kind>,)+ }

        impl $name {
            /// The section's name in the file.
            pub(super) const TABLE: &'static str = $table;

            /// Each key with its variable.
            #[cfg(test)]
            pub(super) const KEYS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($key), crate::env_vars::$variable),)+];

            /// Makes relative paths of the file start at its folder.
            pub(super) fn rebase(&mut self, base: &std::path::Path) {
                $(if let Some(value) = &mut self.$key {
                    crate::settings::section::Kind::rebase(value, base);
                })+
            }

            /// Lets variables override what the file says.
            pub(super) fn override_by(
                &mut self,
                environment: &crate::settings::section::Environment<'_>,
                problems: &mut crate::settings::problem::Problems,
            ) {
                $(environment.override_key(
                    (Self::TABLE, stringify!($key)),
                    crate::env_vars::$variable,
                    &mut self.$key,
                    problems,
                );)+
            }
        }
    };
}

pub(super) use section;

/// A kind of value that a key can have.
pub(crate) trait Kind: Sized {
    /// Reads the text of a variable; the error says what would be right and never quotes the text.
    fn from_text(text: String) -> Result<Self, String>;

    /// Makes a relative path start at a folder.
    fn rebase(&mut self, _base: &Path) {}
}

impl Kind for String {
    fn from_text(text: String) -> Result<Self, String> {
        Ok(text)
    }
}

impl Kind for u64 {
    fn from_text(text: String) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "is not a whole number".to_owned())
    }
}

impl Kind for PathBuf {
    fn from_text(text: String) -> Result<Self, String> {
        Ok(Self::from(text))
    }

    fn rebase(&mut self, base: &Path) {
        *self = base.join(&self);
    }
}

impl Kind for Vec<String> {
    fn from_text(text: String) -> Result<Self, String> {
        Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }
}

/// A secret in the file; an error about it never quotes it.
#[derive(Debug, Clone)]
pub(crate) struct Secret(pub(crate) SecretString);

impl Kind for Secret {
    fn from_text(text: String) -> Result<Self, String> {
        Ok(Self(SecretString::from(text)))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => Ok(Self(SecretString::from(text))),
            _ => Err(serde::de::Error::custom("the value must be a string in quotes")),
        }
    }
}

/// Where variables are looked up.
pub(crate) struct Environment<'a>(pub(crate) &'a dyn Fn(&str) -> Option<OsString>);

impl Environment<'_> {
    /// Returns a variable's text; one that is empty counts as not set.
    pub(super) fn text(&self, name: &str) -> Option<Result<String, String>> {
        let value = (self.0)(name).filter(|value| !value.is_empty())?;
        Some(value.into_string().map_err(|_| "is not UTF-8 text".to_owned()))
    }

    /// Puts a variable in the place of what the file says, and remembers that it came from there.
    pub(super) fn override_key<T: Kind>(
        &self,
        key: (&'static str, &'static str),
        variable: &'static str,
        value: &mut Option<T>,
        problems: &mut Problems,
    ) {
        let Some(text) = self.text(variable) else { return };
        problems.comes_from(key, variable);
        match text.and_then(T::from_text) {
            Ok(given) => *value = Some(given),
            Err(reason) => problems.add(key, reason),
        }
    }
}
