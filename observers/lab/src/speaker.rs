//! A process that is spoken to by lines, as the front speaks to an observer.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// One such process; it ends when its standard input does, or is ended when this is dropped.
pub struct Speaker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Speaker {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells it a line.
    pub fn say(&mut self, line: &(impl Display + ?Sized)) {
        writeln!(self.input.as_mut().expect("not ended"), "{line}").expect("it listens");
    }

    /// The next line that it says.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it speaks");
        line.trim().to_owned()
    }

    /// The next line that it says, which must be an event.
    pub fn event(&mut self) -> Value {
        let line = self.hear();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no event ({error}): {line:?}"))
    }

    /// Ends its input and waits for its end; gives the last event.
    pub fn end(mut self) -> Value {
        self.input.take();
        let event = self.event();
        assert!(self.child.wait().expect("it ends").success());
        event
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        self.input.take();
        let ended = self.child.kill().and_then(|()| self.child.wait());
        ended.expect("its own child");
    }
}

/// What becomes of an observer that is told one line: its exit status, and what it says on standard error.
pub fn refusal(observer: &mut Command, line: &str) -> (Option<i32>, String) {
    let mut child = observer
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    writeln!(child.stdin.take().expect("piped"), "{line}").expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}
