//! Runs a program once and says what it cost.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::clock::Stopwatch;

/// How often the kernel is asked for the peak; what a program grows by in its last moments within this time is missed.
const POLL: Duration = Duration::from_millis(1);

/// What one run cost.
#[derive(Debug)]
pub(crate) struct Run {
    /// What the program printed.
    pub(crate) stdout: Vec<u8>,
    /// From before its start until after its end.
    pub(crate) wall: Duration,
    /// Peak resident memory in KiB, as the kernel keeps it (`VmHWM`).
    pub(crate) rss_peak_kib: u64,
}

/// Runs a program to its end and measures it.
///
/// # Errors
/// It cannot be started, fails, or ends before the kernel was asked once.
pub(crate) fn measure(command: &mut Command) -> anyhow::Result<Run> {
    let stopwatch = Stopwatch::start();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .with_context(|| format!("starting {command:?}"))?;
    let mut pipe = child.stdout.take().context("the program's output is a pipe")?;
    // A full pipe would stop the program, so its output is read while it runs.
    let reader = std::thread::spawn(move || {
        let mut stdout = Vec::new();
        pipe.read_to_end(&mut stdout).map(|_| stdout)
    });
    let status_file = format!("/proc/{}/status", child.id());
    let mut rss_peak_kib = None;
    let status = loop {
        if let Some(status) = child.try_wait().context("waiting for the program")? {
            break status;
        }
        // Between its end and the next `try_wait` a program has no memory to show.
        let peak = std::fs::read_to_string(&status_file).ok().and_then(|text| peak_kib(&text));
        rss_peak_kib = rss_peak_kib.max(peak);
        std::thread::sleep(POLL);
    };
    let wall = stopwatch.elapsed();
    let stdout = match reader.join() {
        Ok(read) => read.context("reading the program's output")?,
        Err(_) => bail!("the reader of the program's output stopped"),
    };
    if !status.success() {
        bail!("{command:?} failed ({status})");
    }
    let rss_peak_kib = rss_peak_kib.context("the program ended before its memory could be read")?;
    Ok(Run { stdout, wall, rss_peak_kib })
}

fn peak_kib(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    value.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_the_kernels_high_water_mark() {
        assert_eq!(
            peak_kib("Name:\tpegel\nVmPeak:\t  900 kB\nVmHWM:\t   5120 kB\nVmRSS:\t 100 kB\n"),
            Some(5120)
        );
        assert_eq!(peak_kib("Name:\tpegel\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn a_run_has_its_output_its_time_and_its_memory() {
        let run = measure(Command::new("sh").args(["-c", "echo hello; sleep 0.05"])).unwrap();
        assert_eq!(run.stdout, b"hello\n");
        assert!(run.wall >= Duration::from_millis(50));
        assert!(run.rss_peak_kib > 0);
    }

    #[test]
    fn a_program_that_fails_has_no_measurement() {
        assert!(measure(Command::new("sh").args(["-c", "exit 3"])).is_err());
    }
}
