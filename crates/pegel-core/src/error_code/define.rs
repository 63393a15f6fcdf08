//! Makes the type of codes out of the table, so that a code without one of its parts does not compile.

macro_rules! error_codes {
    ($($variant:ident {
        code: $code:literal,
        title: $title:literal,
        exit: $exit:ident,
        http: $http:literal,
        meaning: $meaning:literal,
        cause: $cause:literal,
        action: $action:literal $(,)?
    })*) => {
        /// A stable code of something that went wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl ErrorCode {
            /// All codes, in the order of the reference page.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code as it is written everywhere.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns a short name for people, without a final period.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Returns how a command ends that met this error.
            pub const fn exit_class(self) -> ExitClass {
                match self { $(Self::$variant => ExitClass::$exit,)* }
            }

            /// Returns the HTTP status of a problem with this code.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)* }
            }

            /// Returns what the code says, in full sentences.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// Returns why this usually happens.
            pub const fn likely_cause(self) -> &'static str {
                match self { $(Self::$variant => $cause,)* }
            }

            /// Returns what a person can do about it.
            pub const fn what_to_do(self) -> &'static str {
                match self { $(Self::$variant => $action,)* }
            }
        }
    };
}

pub(super) use error_codes;
