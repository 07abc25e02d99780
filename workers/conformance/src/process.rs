//! One worker process: its pipes, its log, its end. Every wait has a deadline and says what it waited for.
//!
//! Lines are read on threads of their own, so that no pipe ever fills; the process is killed, by its own handle, when
//! this is dropped. What the lines mean is for `application` and `services` to know.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Ends a hang; no check asks for anything to be faster than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The exit status of a Rust program that panicked.
const PANIC: i32 = 101;

/// What a pipe of Linux holds before a writer waits.
const PIPE_BYTES: usize = 64 * 1024;

/// How much of the log a failure shows.
const LOG_LINES: usize = 30;

/// Why a process gave no answer: it has died of a signal.
#[derive(Debug)]
pub(crate) struct EndedBySignal;

impl fmt::Display for EndedBySignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a worker died of a signal")
    }
}

/// A running worker.
pub(crate) struct Process {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Arc<Mutex<VecDeque<String>>>,
}

impl Process {
    /// Starts `path command`; `name` stands for it in messages.
    pub(crate) fn spawn(path: &Path, command: &str, name: &str) -> Result<Process> {
        Process::start(Command::new(path).arg(command), path, name)
    }

    /// The same as another user of the operating system.
    pub(crate) fn spawn_as(user: u32, path: &Path, command: &str, name: &str) -> Result<Process> {
        let mut started = Command::new(path);
        Process::start(started.arg(command).uid(user).gid(user), path, name)
    }

    fn start(command: &mut Command, path: &Path, name: &str) -> Result<Process> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", path.display()))?;
        let (sender, lines) = channel();
        read_lines(child.stdout.take().expect("piped"), move |line| {
            sender.send(line).is_ok()
        });
        let log = Arc::new(Mutex::new(VecDeque::new()));
        let writer = Arc::clone(&log);
        read_lines(child.stderr.take().expect("piped"), move |line| {
            let mut log = writer.lock().unwrap_or_else(PoisonError::into_inner);
            if log.len() == LOG_LINES {
                log.pop_front();
            }
            log.push_back(line);
            true
        });
        Ok(Process {
            name: name.into(),
            input: child.stdin.take(),
            child,
            lines,
            log,
        })
    }

    /// Its number, as long as it is its own: none once its end has been seen.
    pub(crate) fn id(&mut self) -> Option<u32> {
        matches!(self.child.try_wait(), Ok(None)).then(|| self.child.id())
    }

    /// Says one value, one line of JSON.
    pub(crate) fn say<T: Serialize>(&mut self, value: &T) -> Result<()> {
        let mut line = serde_json::to_vec(value).context("writing JSON")?;
        line.push(b'\n');
        self.say_bytes(line)
    }

    /// Says any bytes, without waiting for them to be read; a process that is gone is no error here.
    pub(crate) fn say_bytes(&mut self, bytes: Vec<u8>) -> Result<()> {
        let mut input = self
            .input
            .take()
            .ok_or_else(|| self.failure("its standard input is closed"))?;
        if bytes.len() <= PIPE_BYTES {
            match input.write_all(&bytes) {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                    return Err(self.failure(&format!("writing to it: {error}")));
                }
                _ => self.input = Some(input),
            }
            return Ok(());
        }
        // More than a pipe holds: a thread writes it and then hangs up, however slowly the worker reads.
        thread::spawn(move || {
            let _ = input.write_all(&bytes);
        });
        Ok(())
    }

    /// Ends its standard input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// The next line as one value of the contract.
    pub(crate) fn next<T: DeserializeOwned>(&mut self, waiting_for: &str) -> Result<T> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| {
                self.failure(&format!(
                    "while waiting for {waiting_for}, it printed what is not: {error}: {line:.300}"
                ))
            }),
            Err(RecvTimeoutError::Timeout) => Err(self.late(waiting_for)),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.wait("its end after its standard output was closed")?;
                let failure = self.failure(&format!("ended ({status}) instead of {waiting_for}"));
                Err(if status.signal().is_some() {
                    failure.context(EndedBySignal)
                } else {
                    failure
                })
            }
        }
    }

    /// The next line as one value of the contract; none at the end of its standard output, however it ends.
    pub(crate) fn next_until_end<T: DeserializeOwned>(&mut self, waiting_for: &str) -> Result<Option<T>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Ok(Some(
                serde_json::from_str(&line).with_context(|| format!("it printed {line:.300}"))?,
            )),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(self.late(waiting_for)),
        }
    }

    /// Waits for the end of its standard output: true where no further line comes.
    pub(crate) fn is_silent(&mut self, waiting_for: &str) -> Result<bool> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(_) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Ok(true),
            Err(RecvTimeoutError::Timeout) => Err(self.late(waiting_for)),
        }
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, waiting_for: &str) -> Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        let id = Pid::from_child(&self.child);
        let handle = pidfd_open(id, PidfdFlags::empty()).context("opening a handle of the process")?;
        let patience = Timespec {
            tv_sec: PATIENCE.as_secs() as i64,
            tv_nsec: 0,
        };
        if poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience))? == 0 {
            return Err(self.late(waiting_for));
        }
        Ok(self.child.wait()?)
    }

    /// Waits for an end that is not a crash: no signal took it.
    pub(crate) fn wait_without_crash(&mut self, waiting_for: &str) -> Result<i32> {
        let status = self.wait(waiting_for)?;
        match status.code() {
            Some(code) if code != PANIC => Ok(code),
            _ => Err(self.failure(&format!("crashed ({status}), while the suite waited for {waiting_for}"))),
        }
    }

    /// Kills it outright and waits until it is gone.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Has it sleep until it is resumed: it takes nothing in, and nobody is told.
    pub(crate) fn pause(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::STOP)?)
    }

    /// Wakes it.
    pub(crate) fn resume(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::CONT)?)
    }

    /// An error that names the process and shows the end of its log.
    pub(crate) fn failure(&self, what: &str) -> anyhow::Error {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = log.iter().map(|line| format!("    {line}")).collect();
        match lines.as_slice() {
            [] => anyhow!("{}: {what} (it logged nothing)", self.name),
            lines => anyhow!("{}: {what}\n  the end of its log:\n{}", self.name, lines.join("\n")),
        }
    }

    fn late(&self, waiting_for: &str) -> anyhow::Error {
        self.failure(&format!("{} s have passed without {waiting_for}", PATIENCE.as_secs()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.kill();
        }
    }
}

fn read_lines(pipe: impl Read + Send + 'static, mut pass: impl FnMut(String) -> bool + Send + 'static) {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if !pass(String::from_utf8_lossy(&line).trim_end().to_owned()) {
                return;
            }
            line.clear();
        }
    });
}
