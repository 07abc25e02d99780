//! iceoryx2, used as its benchmarks `publish-subscribe` and `event` use it, between two processes instead of two threads.
//!
//! `polling` is the first: a loan is sent as it is, and the receiver looks again and again. `own_thread` adds the second's
//! notification to each message and waits for it, as iceoryx2's example of event-based communication pairs them. Told so, it
//! writes each message into its loan and copies it out again, which neither benchmark does. With a word and a number it
//! sends and takes so many messages by itself (`counted`).

mod counted;

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{
    Config, FileName, Node, NodeBuilder, Path as IceoryxPath, SemanticString, SignalHandlingMode, ipc,
};
use middlemark_bench_reference::{Role, Task};

type Service = ipc::Service;

/// After how many looks the clock is read.
const LOOKS: u32 = (1 << 16) - 1;

fn main() -> Result<(), Box<dyn Error>> {
    if let [how, messages] = &env::args().skip(1).collect::<Vec<_>>()[..] {
        return counted::in_turn(how, messages.parse()?);
    }
    let task = Task::told();
    let config = configuration(&task.folder)?;
    let node = NodeBuilder::new()
        .config(&config)
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<Service>()?;
    let with_events = task.delivery == "own_thread";
    let message = task.written.then(|| vec![1; task.size_bytes]);
    match task.role {
        Role::Ping => {
            let (questions, mut answers) = (
                Outlet::new(&node, "ping", task.size_bytes, with_events, message.clone())?,
                Inlet::new(&node, "pong", with_events, message)?,
            );
            task.ask(|| questions.send(), |patience| answers.take(patience));
        }
        Role::Pong => {
            let (mut questions, answers) = (
                Inlet::new(&node, "ping", with_events, message.clone())?,
                Outlet::new(&node, "pong", task.size_bytes, with_events, message)?,
            );
            while !task.is_over() {
                if questions.take(Duration::from_millis(100)) {
                    answers.send();
                }
            }
        }
        Role::Flood | Role::Count => return Err("the benchmarks of iceoryx2 only ask and answer".into()),
    }
    Ok(())
}

/// As shipped, with its files in the run's folder, and shared memory with that folder's name, so that all can be removed.
fn configuration(folder: &std::path::Path) -> Result<Config, Box<dyn Error>> {
    let name = folder.file_name().ok_or("a folder without a name")?;
    let mut config = Config::default();
    config.global.prefix = FileName::new(name.as_encoded_bytes()).map_err(|_| "no prefix of file names")?;
    let root = IceoryxPath::new(folder.as_os_str().as_encoded_bytes()).map_err(|_| "no path")?;
    config.global.set_root_path(&root);
    Ok(config)
}

struct Outlet {
    publisher: Publisher<Service, [u8], ()>,
    notifier: Option<Notifier<Service>>,
    size_bytes: usize,
    /// What is written into each message, if anything is.
    message: Option<Vec<u8>>,
}

impl Outlet {
    fn new(
        node: &Node<Service>,
        name: &str,
        size_bytes: usize,
        with_events: bool,
        message: Option<Vec<u8>>,
    ) -> Result<Outlet, Box<dyn Error>> {
        let data = node
            .service_builder(&name.try_into()?)
            .publish_subscribe::<[u8]>()
            .open_or_create()?;
        let publisher = data.publisher_builder().initial_max_slice_len(size_bytes).create()?;
        let notifier = if with_events {
            let events = node.service_builder(&name.try_into()?).event().open_or_create()?;
            Some(events.notifier_builder().create()?)
        } else {
            None
        };
        Ok(Outlet {
            publisher,
            notifier,
            size_bytes,
            message,
        })
    }

    fn send(&self) {
        let loan = self.publisher.loan_slice_uninit(self.size_bytes).expect("a loan");
        let message = match &self.message {
            Some(bytes) => loan.write_from_slice(bytes),
            // SAFETY: bytes have no invalid value, and nobody reads them, as in the benchmark.
            None => unsafe { loan.assume_init() },
        };
        message.send().expect("a connection");
        if let Some(notifier) = &self.notifier {
            notifier.notify().expect("a connection");
        }
    }
}

struct Inlet {
    subscriber: Subscriber<Service, [u8], ()>,
    listener: Option<Listener<Service>>,
    /// What each message is copied into, if it is read.
    buffer: Option<Vec<u8>>,
}

impl Inlet {
    fn new(
        node: &Node<Service>,
        name: &str,
        with_events: bool,
        buffer: Option<Vec<u8>>,
    ) -> Result<Inlet, Box<dyn Error>> {
        let data = node
            .service_builder(&name.try_into()?)
            .publish_subscribe::<[u8]>()
            .open_or_create()?;
        let listener = if with_events {
            let events = node.service_builder(&name.try_into()?).event().open_or_create()?;
            Some(events.listener_builder().create()?)
        } else {
            None
        };
        Ok(Inlet {
            subscriber: data.subscriber_builder().create()?,
            listener,
            buffer,
        })
    }

    /// Whether a message came within this time.
    fn take(&mut self, patience: Duration) -> bool {
        if let Some(listener) = &self.listener {
            return listener.timed_wait(|_| (), patience).expect("a connection") > 0 && self.look();
        }
        let begin = Instant::now();
        let mut looks = 0_u32;
        while !self.look() {
            looks += 1;
            if looks & LOOKS == 0 && begin.elapsed() > patience {
                return false;
            }
        }
        true
    }

    /// Whether a message was there.
    fn look(&mut self) -> bool {
        let message = self.subscriber.receive().expect("a connection");
        if let (Some(message), Some(buffer)) = (&message, &mut self.buffer) {
            buffer.copy_from_slice(message.payload());
            black_box(buffer);
        }
        message.is_some()
    }
}
