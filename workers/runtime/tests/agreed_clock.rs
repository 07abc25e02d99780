//! The front's clock on a machine that began to count at another time; a test of its own, as a process has one clock.

use middlemark_runtime::clock;

#[test]
fn the_time_is_the_fronts_wherever_this_machine_began_to_count() {
    const AHEAD_NS: i64 = 3_600_000_000_000;
    let here_ns = clock::now_ns();
    clock::follow_front(AHEAD_NS);
    let front_ns = clock::now_ns();
    clock::sleep_until(front_ns + 5_000_000);
    let slept_ns = clock::now_ns() - front_ns;
    assert!(
        (here_ns - front_ns - AHEAD_NS).abs() < AHEAD_NS / 2,
        "{here_ns} {front_ns}"
    );
    assert!((5_000_000..AHEAD_NS / 2).contains(&slept_ns), "{slept_ns}");
}
