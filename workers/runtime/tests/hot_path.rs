//! The runtime's allocations and system calls for each message: none.
//!
//! A publisher's loop hands its messages straight to a receiver, and the ends of a ping-pong to each other, so that all run
//! without a middleware. System calls are forbidden by the kernel itself (a seccomp filter kills at the first one), so that
//! none can be overlooked; a contended lock would be one (futex). The clock is read through the vDSO and is no system call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use middlemark_contract::{PayloadKind, Serialisation};
use middlemark_runtime::harness::{self, Flood, PingPong};
use middlemark_runtime::{Publish, PublishError, PublishInPlace, Publisher, Receiver};

const MESSAGES: u32 = 10_000;
const SIZE_BYTES: usize = 1000;
const SERIALISATIONS: [Serialisation; 4] = [
    Serialisation::Cdr,
    Serialisation::Protobuf,
    Serialisation::Someip,
    Serialisation::Plain,
];

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Straight(Receiver);

impl Publish for Straight {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.0.receive(message);
        Ok(())
    }
}

struct Lending {
    memory: Box<[MaybeUninit<u8>]>,
    receiver: Receiver,
}

impl PublishInPlace for Lending {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        write(&mut self.memory[..size_bytes]);
        // SAFETY: `write` has initialised all of these bytes.
        self.receiver
            .receive(unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), size_bytes) });
        Ok(())
    }
}

fn main() {
    for publisher in [copying, in_place] {
        let octets = || Flood::new(publisher(), SIZE_BYTES, MESSAGES);
        no_message_allocates(octets());
        no_message_makes_a_system_call(octets());
        for serialisation in SERIALISATIONS {
            let images = || Flood::of_type(publisher(), PayloadKind::Image, serialisation, SIZE_BYTES, MESSAGES);
            no_message_allocates(images());
            no_message_makes_a_system_call(images());
        }
    }
    no_round_trip_allocates();
    no_round_trip_makes_a_system_call();
    a_system_call_would_be_noticed();
    println_result("23 passed, 0 failed");
}

fn copying() -> Publisher {
    Publisher::Copying(Box::new(Straight(harness::receiver(SIZE_BYTES, MESSAGES))))
}

fn in_place() -> Publisher {
    Publisher::InPlace(Box::new(Lending {
        memory: Box::new_uninit_slice(SIZE_BYTES),
        receiver: harness::receiver(SIZE_BYTES, MESSAGES),
    }))
}

fn no_message_allocates(mut flood: Flood) {
    let before = ALLOCATIONS.load(Relaxed);
    flood.run();
    assert_eq!(
        ALLOCATIONS.load(Relaxed) - before,
        0,
        "allocations of {MESSAGES} messages"
    );
}

fn no_message_makes_a_system_call(mut flood: Flood) {
    let ended = without_system_calls(|| {
        flood.run();
    });
    assert_eq!(ended, End::Exited, "a message made a system call");
}

fn no_round_trip_allocates() {
    let mut ends = PingPong::new(SIZE_BYTES, MESSAGES);
    let before = ALLOCATIONS.load(Relaxed);
    (1..MESSAGES).for_each(|_| ends.round_trip());
    assert_eq!(
        ALLOCATIONS.load(Relaxed) - before,
        0,
        "allocations of {MESSAGES} round trips"
    );
}

fn no_round_trip_makes_a_system_call() {
    let mut ends = PingPong::new(SIZE_BYTES, MESSAGES);
    let ended = without_system_calls(|| (1..MESSAGES).for_each(|_| ends.round_trip()));
    assert_eq!(ended, End::Exited, "a round trip made a system call");
}

fn a_system_call_would_be_noticed() {
    // SAFETY: getpid has no arguments and can't fail.
    let ended = without_system_calls(|| unsafe { assert!(libc::syscall(libc::SYS_getpid) > 0) });
    assert_eq!(ended, End::Killed, "the filter is not in force");
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Exited,
    Killed,
}

/// Runs something in a child process to which the kernel allows no system call but its exit.
fn without_system_calls(work: impl FnOnce()) -> End {
    // SAFETY: the child only runs `work` and exits; this process has no other thread whose locks it could inherit.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
    if child == 0 {
        allow_only(libc::SYS_exit);
        work();
        // SAFETY: ends the only thread of the child.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid, and the child is this process's own.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        End::Exited
    } else {
        End::Killed
    }
}

/// Installs a filter that kills this process at any other system call. Strict mode would forbid to read the TSC, too.
fn allow_only(call: libc::c_long) {
    let statement = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the call's number
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS, 0, 0),
    ];
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: `filter` and its program are valid for both calls.
    let status = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
    };
    assert_eq!(status, 0, "seccomp: {}", std::io::Error::last_os_error());
}

/// A test binary of its own main reports as the others do.
#[expect(clippy::print_stdout, reason = "a test's standard output is no protocol")]
fn println_result(line: &str) {
    println!("{line}");
}
