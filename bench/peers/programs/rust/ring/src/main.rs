//! A ring of 64 slots in shared memory, one writer and one reader, with a futex to wait on: what a user would write.
//!
//! `polling` looks again and again; `own_thread` sleeps on the writer's position, and each message wakes the reader.

use std::fs::OpenOptions;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use middlemark_bench_reference::{Role, Task};

const SLOTS: u32 = 64;
const SLOT_BYTES: usize = 4096;
/// After how many looks the clock is read.
const LOOKS: u32 = (1 << 16) - 1;

#[repr(C, align(64))]
struct Position(AtomicU32);

#[repr(C)]
struct Memory {
    written: Position,
    read: Position,
    slots: [[u8; SLOT_BYTES]; SLOTS as usize],
}

struct Ring {
    memory: *mut Memory,
    sleeps: bool,
    size_bytes: usize,
}

// SAFETY: each position is written by one side alone, and a slot belongs to the side that its position has not passed.
unsafe impl Sync for Ring {}

fn main() {
    let task = Task::told();
    assert!(task.size_bytes <= SLOT_BYTES, "a slot has {SLOT_BYTES} bytes");
    let message = vec![1; task.size_bytes];
    let mut buffer = vec![0; task.size_bytes];
    let (questions, answers) = (Ring::open("ping", &task), Ring::open("pong", &task));
    match task.role {
        Role::Ping => task.ask(
            || questions.write(&message),
            |patience| answers.take(&mut buffer, patience),
        ),
        Role::Pong => {
            while !task.is_over() {
                if questions.take(&mut buffer, Duration::from_millis(100)) {
                    answers.write(&buffer);
                }
            }
        }
        Role::Flood => task.flood(|| questions.write(&message)),
        Role::Count => {
            let (counted, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_done.load(Relaxed) {
                        counted.fetch_add(questions.take(&mut buffer, Duration::from_millis(100)).into(), Relaxed);
                    }
                });
                task.count(&counted);
                is_done.store(true, Relaxed);
            });
        }
    }
}

impl Ring {
    fn open(name: &str, task: &Task) -> Ring {
        let path = task.folder.join(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .expect("the folder of both ends");
        file.set_len(size_of::<Memory>() as u64).expect("room in the folder");
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: the file is as long as the mapping.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<Memory>(),
                access,
                shared,
                file.as_raw_fd(),
                0,
            )
        };
        assert!(memory != libc::MAP_FAILED, "the ring can't be mapped");
        Ring {
            memory: memory.cast(),
            sleeps: task.delivery == "own_thread",
            size_bytes: task.size_bytes,
        }
    }

    fn positions(&self) -> (&AtomicU32, &AtomicU32) {
        // SAFETY: the mapping lives as long as the process, and any bits are a position.
        unsafe { (&(*self.memory).written.0, &(*self.memory).read.0) }
    }

    fn slot(&self, position: u32) -> *mut u8 {
        // SAFETY: the index is within the array.
        unsafe { (&raw mut (*self.memory).slots[(position % SLOTS) as usize]).cast() }
    }

    fn write(&self, message: &[u8]) {
        let (written, read) = self.positions();
        let position = written.load(Relaxed);
        while position.wrapping_sub(read.load(Acquire)) == SLOTS {
            std::hint::spin_loop();
        }
        // SAFETY: the reader has left this slot, and a message is no longer than it.
        unsafe { ptr::copy_nonoverlapping(message.as_ptr(), self.slot(position), message.len()) };
        written.store(position.wrapping_add(1), Release);
        if self.sleeps {
            // SAFETY: the kernel only takes the address.
            unsafe { libc::syscall(libc::SYS_futex, written.as_ptr(), libc::FUTEX_WAKE, 1) };
        }
    }

    /// Whether a message came within this time.
    fn take(&self, buffer: &mut [u8], patience: Duration) -> bool {
        let (written, read) = self.positions();
        let position = read.load(Relaxed);
        let begin = Instant::now();
        let mut looks = 0_u32;
        while written.load(Acquire) == position {
            if self.sleeps {
                wait(written, position, patience);
            }
            looks += 1;
            if (self.sleeps || looks & LOOKS == 0) && begin.elapsed() > patience {
                return false;
            }
        }
        // SAFETY: the writer has written this slot and waits until it is read; the buffer is a message long.
        unsafe { ptr::copy_nonoverlapping(self.slot(position), buffer.as_mut_ptr(), self.size_bytes) };
        read.store(position.wrapping_add(1), Release);
        true
    }
}

/// Sleeps while the word has this value, at most so long.
fn wait(word: &AtomicU32, value: u32, patience: Duration) {
    let mut time: MaybeUninit<libc::timespec> = MaybeUninit::zeroed();
    // SAFETY: zero is a valid timespec, and the kernel only reads it and the word.
    unsafe {
        let time = time.assume_init_mut();
        time.tv_sec = patience.as_secs() as i64;
        time.tv_nsec = i64::from(patience.subsec_nanos());
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            value,
            ptr::from_ref(time),
        );
    }
}
