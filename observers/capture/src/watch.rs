//! The capture itself: frames go from the taps to the file as they come, until the front asks for the account.

use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};

use crate::error::CaptureError;
use crate::file::CaptureFile;
use crate::message::{Command, Event, Frames, Spec, parse};
use crate::tap::Tap;

/// So many frames of one link are taken before the next link's turn.
const TURN: usize = 256;

/// Captures as the front says, and tells it in the end what became of every frame.
pub(crate) fn watch(mut input: impl BufRead + AsFd, output: &mut impl Write) -> Result<(), CaptureError> {
    let spec: Spec = parse(&line(&mut input)?)?;
    let mut capture = Capture::begin(&spec)?;
    tell(output, &Event::Ready {})?;
    while !capture.wait(&input)? {
        capture.take(TURN)?;
    }
    let Command::Stop {} = parse(&line(&mut input)?)?;
    while capture.take(TURN)? > 0 {}
    let (frames, file_bytes) = capture.finish()?;
    for (link, frames) in spec.links.iter().zip(frames) {
        tell(
            output,
            &Event::Link {
                name: &link.name,
                frames,
            },
        )?;
    }
    tell(output, &Event::Done { file_bytes })
}

struct Capture {
    taps: Vec<Tap>,
    file: CaptureFile,
    frames: Vec<Frames>,
    room: Vec<u8>,
}

impl Capture {
    fn begin(spec: &Spec) -> Result<Self, CaptureError> {
        let taps: Vec<Tap> = spec
            .links
            .iter()
            .map(|link| Tap::open(&link.interface))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            frames: vec![Frames::default(); taps.len()],
            taps,
            file: CaptureFile::create(spec)?,
            room: vec![0; spec.snap_bytes],
        })
    }

    /// Waits for frames or for the front; says whether the front has said something.
    fn wait(&self, input: &impl AsFd) -> Result<bool, CaptureError> {
        let mut waited: Vec<PollFd<'_>> = std::iter::once(input.as_fd())
            .chain(self.taps.iter().map(AsFd::as_fd))
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        match poll(&mut waited, PollTimeout::NONE) {
            Ok(_) => Ok(waited[0].any().unwrap_or(true)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(CaptureError::Machine {
                doing: "waiting for frames".to_owned(),
                source: error.into(),
            }),
        }
    }

    /// One turn of every link; says how many frames there were.
    fn take(&mut self, limit: usize) -> Result<usize, CaptureError> {
        let mut taken = 0;
        for (number, tap) in self.taps.iter().enumerate() {
            let (file, frames) = (&mut self.file, &mut self.frames[number]);
            taken += tap.take(limit, &mut self.room, |frame| file.add(number, frame, frames))?;
        }
        Ok(taken)
    }

    /// The account of each link and the file's size.
    fn finish(mut self) -> Result<(Vec<Frames>, u64), CaptureError> {
        for (frames, tap) in self.frames.iter_mut().zip(&self.taps) {
            frames.lost = tap.lost();
        }
        // The stamps of frames are the kernel's, of the time of day.
        let now = clock_gettime(ClockId::CLOCK_REALTIME).map_or(Duration::ZERO, Duration::from);
        let file_bytes = self.file.finish(now, &self.frames)?;
        Ok((self.frames, file_bytes))
    }
}

fn line(input: &mut impl BufRead) -> Result<String, CaptureError> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) | Err(_) => Err(CaptureError::Gone),
        Ok(_) => Ok(line),
    }
}

fn tell(output: &mut impl Write, event: &Event<'_>) -> Result<(), CaptureError> {
    let line = serde_json::to_string(event).expect("an event is made of numbers and words");
    let told = writeln!(output, "{line}").and_then(|()| output.flush());
    told.map_err(|source| CaptureError::Machine {
        doing: "telling the front".to_owned(),
        source,
    })
}
