//! The ring under stress and under every kind of coming and going, between threads and between processes.

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use middlemark_ring::{FOLDER, Full, Layout, Reader, WhenFull, Writer};

/// Longer than any test takes.
const WAIT: WhenFull = WhenFull::Wait(Duration::from_secs(3600));

/// A name that no other test and no other process uses.
fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "middlemark_test_{}_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

fn exists(name: &str) -> bool {
    Path::new(FOLDER).join(name).exists()
}

/// A message of which every word tells its number, so that a torn one is seen.
fn fill(number: u64) -> impl FnOnce(&mut [MaybeUninit<u8>]) {
    move |message| {
        for (place, byte) in message.iter_mut().zip(number.to_le_bytes().into_iter().cycle()) {
            place.write(byte);
        }
    }
}

fn number(message: &[u8]) -> u64 {
    let words: Vec<_> = message
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert!(words.iter().all(|word| *word == words[0]), "torn: {words:?}");
    words[0]
}

#[test]
fn every_reader_sees_every_message_once_in_order_and_whole() {
    const MESSAGES: u64 = 20_000;
    let (name, layout) = (name(), Layout::new(64, 3, 8));
    let mut readers: Vec<_> = (0..3)
        .map(|index| Reader::attach(&name, layout, index).unwrap())
        .collect();
    let mut writer = Writer::attach(&name, layout, WAIT).unwrap();
    std::thread::scope(|scope| {
        for (index, mut reader) in readers.drain(..).enumerate() {
            scope.spawn(move || {
                let mut next = 0;
                while next < MESSAGES {
                    if !reader.take(|message| assert_eq!(number(message), next)) {
                        // One reader polls, the others sleep.
                        if index > 0 {
                            reader.wait(None);
                        }
                        continue;
                    }
                    next += 1;
                }
            });
        }
        for message in 0..MESSAGES {
            writer.write(fill(message)).unwrap();
        }
    });
    drop(writer);
    assert!(!exists(&name));
}

#[test]
fn readers_come_and_go_and_see_an_unbroken_stretch_each() {
    const MESSAGES: u64 = 5_000;
    let (name, layout) = (name(), Layout::new(32, 2, 4));
    let mut writer = Writer::attach(&name, layout, WAIT).unwrap();
    let written = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for index in 0..2 {
            let (name, written) = (&name, &written);
            scope.spawn(move || {
                while !written.load(Ordering::Relaxed) {
                    let mut reader = Reader::attach(name, layout, index).unwrap();
                    let mut expected = None;
                    for _ in 0..100 {
                        reader.take(|message| {
                            let number = number(message);
                            assert!(
                                expected.is_none_or(|expected| expected == number),
                                "{expected:?} {number}"
                            );
                            expected = Some(number + 1);
                        });
                    }
                }
            });
        }
        let mut message = 0;
        while message < MESSAGES {
            match writer.write(fill(message)) {
                Ok(()) => message += 1,
                Err(refusal) => assert_eq!(refusal, Full::Nobody),
            }
        }
        written.store(true, Ordering::Relaxed);
    });
    drop(writer);
    assert!(!exists(&name));
}

#[test]
fn a_full_ring_refuses_or_waits_as_it_was_told() {
    let (name, layout) = (name(), Layout::new(32, 1, 4));
    let mut writer = Writer::attach(&name, layout, WhenFull::Refuse).unwrap();
    assert_eq!(writer.write(fill(0)), Err(Full::Nobody));
    let mut reader = Reader::attach(&name, layout, 0).unwrap();
    for message in 0..4 {
        assert_eq!(writer.write(fill(message)), Ok(()));
    }
    assert_eq!(writer.write(fill(4)), Err(Full::Behind));
    assert!(reader.take(|message| assert_eq!(number(message), 0)));
    assert_eq!(writer.write(fill(5)), Ok(()));
    drop(reader);
    assert_eq!(writer.write(fill(6)), Err(Full::Nobody));
}

#[test]
fn a_writer_gives_up_after_its_patience_and_goes_on_where_there_is_room_again() {
    let (name, layout) = (name(), Layout::new(32, 1, 4));
    let mut writer = Writer::attach(&name, layout, WhenFull::Wait(Duration::from_millis(1))).unwrap();
    let mut reader = Reader::attach(&name, layout, 0).unwrap();
    for message in 0..4 {
        assert_eq!(writer.write(fill(message)), Ok(()));
    }
    assert_eq!(writer.write(fill(4)), Err(Full::TimedOut));
    assert!(reader.take(|message| assert_eq!(number(message), 0)));
    assert_eq!(writer.write(fill(5)), Ok(()));
}

#[test]
fn a_second_writer_and_a_second_reader_of_the_same_index_are_refused() {
    let (name, layout) = (name(), Layout::new(32, 2, 4));
    let _writer = Writer::attach(&name, layout, WAIT).unwrap();
    let _reader = Reader::attach(&name, layout, 1).unwrap();
    let refused = [
        Writer::attach(&name, layout, WAIT).err(),
        Reader::attach(&name, layout, 1).err(),
    ];
    assert_eq!(
        refused.map(|error| error.unwrap().to_string()),
        ["writer", "reader 1"].map(|participant| format!("/dev/shm/{name} already has its {participant}"))
    );
    assert!(Reader::attach(&name, Layout::new(64, 2, 4096), 0).is_err());
    assert!(Reader::attach(&name, layout, 0).is_ok());
}

#[test]
fn a_sleeping_reader_is_woken_to_stop() {
    let reader = Reader::attach(&name(), Layout::new(32, 1, 4), 0).unwrap();
    let waker = reader.waker();
    let thread = std::thread::spawn(move || {
        while !reader.is_stopping() {
            reader.wait(None);
        }
    });
    waker.stop();
    thread.join().unwrap();
}

/// The part of [`killed_peers_are_survived`] that gets killed; run by that test in a process of its own.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn peer() {
    let Ok(role) = std::env::var("MIDDLEMARK_TEST_PEER") else {
        return;
    };
    let (role, name) = role.split_once(' ').unwrap();
    let layout = Layout::new(32, 1, 4);
    if role == "reader" {
        let mut reader = Reader::attach(name, layout, 0).unwrap();
        while !reader.take(|_| ()) {
            reader.wait(None);
        }
        eprintln!("took one");
        loop {
            std::thread::park();
        }
    }
    let mut writer = Writer::attach(name, layout, WAIT).unwrap();
    while writer.write(fill(77)).is_err() {
        std::thread::yield_now();
    }
    eprintln!("wrote one");
    loop {
        std::thread::park();
    }
}

/// Starts [`peer`] and waits until it has done what its role says.
fn start_peer(role: &str, name: &str) -> Child {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "peer", "--ignored", "--nocapture"])
        .env("MIDDLEMARK_TEST_PEER", format!("{role} {name}"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(" one")), "the peer ended early");
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_peers_are_survived() {
    let (name, layout) = (name(), Layout::new(32, 1, 4));
    let mut writer = Writer::attach(&name, layout, WAIT).unwrap();
    let feeding = std::thread::spawn({
        move || {
            // Waits for the reader's life, fills the ring, and is let go when the reader is killed.
            while writer.write(fill(1)) == Err(Full::Nobody) {
                std::thread::yield_now();
            }
            while writer.write(fill(1)).is_ok() {}
            writer
        }
    });
    kill(start_peer("reader", &name));
    let writer = feeding.join().unwrap();
    // A new reader takes the killed one's place.
    let mut reader = Reader::attach(&name, layout, 0).unwrap();
    drop(writer);
    let peer = start_peer("writer", &name);
    assert!(reader.take(|message| assert_eq!(number(message), 77)));
    kill(peer);
    let mut writer = Writer::attach(&name, layout, WAIT).unwrap();
    writer.write(fill(78)).unwrap();
    assert!(reader.take(|message| assert_eq!(number(message), 78)));
    drop((writer, reader));
    assert!(!exists(&name));
}
