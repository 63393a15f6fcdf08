//! Help that shows, of the options that every command takes, those that do something there.

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

/// Commands that ask no cluster, with what they read of the options that say how to reach one or a server.
const RESTRAINED: [(&str, Reads); 12] = [
    ("serve", Reads::ConfigFile),
    ("config", Reads::ConfigFile),
    ("user", Reads::ConfigFile),
    ("doctor", Reads::ConfigFile),
    ("audit", Reads::ConfigFileAndServer),
    ("incident", Reads::Server),
    ("silence", Reads::Server),
    ("login", Reads::Server),
    ("logout", Reads::Server),
    ("demo", Reads::Nothing),
    ("completion", Reads::Nothing),
    ("errors", Reads::Nothing),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    ConfigFile,
    ConfigFileAndServer,
    Server,
    Nothing,
}

impl Reads {
    fn shows(self, arg: &Arg) -> bool {
        match arg.get_help_heading() {
            Some("Connection") => {
                matches!(self, Self::ConfigFile | Self::ConfigFileAndServer) && arg.get_id() == "config"
            }
            Some("Server") => matches!(self, Self::Server | Self::ConfigFileAndServer),
            _ => true,
        }
    }
}

/// Returns the command line for parsing. What is hidden is still taken, so that a variable or a habit breaks nothing.
pub(crate) fn command() -> Command {
    let mut root = Cli::command();
    // Global options reach the commands only now.
    root.build();
    for (name, reads) in RESTRAINED {
        root = root.mut_subcommand(name, |command| restrain(command, reads));
    }
    root
}

fn restrain(command: Command, reads: Reads) -> Command {
    let command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || !reads.shows(&arg);
        arg.hide(hidden)
    });
    command.mut_subcommands(|inner| restrain(inner, reads))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    fn help_of(words: &str) -> String {
        let words = words.split(' ').chain(["--help"]);
        command().try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn help_leaves_out_what_has_no_effect() {
        for (words, shown, hidden) in [
            ("pegel demo", "--port-base", "--bootstrap"),
            ("pegel demo", "--output", "--server "),
            ("pegel serve", "--config", "--sasl-username"),
            ("pegel config check", "--config", "--server "),
            ("pegel login", "--server ", "--bootstrap"),
            ("pegel audit verify", "--config", "--bootstrap"),
            ("pegel tables", "--bootstrap", "--port-base"),
        ] {
            let help = help_of(words);
            assert!(help.contains(shown), "{words} shows {shown}: {help}");
            assert!(!help.contains(hidden), "{words} hides {hidden}: {help}");
        }
    }

    #[test]
    fn what_is_hidden_is_still_taken() {
        let matches = command().try_get_matches_from(["pegel", "errors", "--bootstrap", "a:1"]).unwrap();
        let cli = Cli::from_arg_matches(&matches).unwrap();
        assert_eq!(cli.connection.bootstrap.as_deref(), Some("a:1"));
    }
}
