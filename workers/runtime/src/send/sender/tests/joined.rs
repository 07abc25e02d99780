//! Who learns of a window late, or is started within it: what of the schedule is theirs to send.

use super::*;

/// The numbers and instants that a publisher sends which learns of a window after a part of it.
fn joined(pattern: PatternSpec, missed_ns: i64, left_ns: i64) -> (Vec<u32>, PublisherCounts) {
    let (sender, sent) = sender(pattern);
    let now_ns = clock::now_ns();
    sent.gate
        .open(Window::joined_at(now_ns, now_ns - missed_ns, now_ns + left_ns));
    let counts = run(sender, now_ns).unwrap();
    let numbers = sent.numbers.lock().unwrap().clone();
    (numbers, counts)
}

#[test]
fn who_joins_an_open_window_goes_on_with_the_schedule_s_next_instant() {
    for arrival in [Arrival::Fixed, Arrival::Poisson { seed: 3 }] {
        let pattern = periodic(1000.0, arrival);
        let (numbers, counts) = joined(pattern, 500_000_000, 100_000_000);
        let instants = Schedule::new(pattern, 0, 0).take(MESSAGES as usize);
        let of_window = instants
            .zip(0..)
            .filter(|(instant, _)| (500_000_000..600_000_000).contains(instant));
        let expected: Vec<u32> = of_window.map(|(_, number)| number).collect();
        assert_eq!(numbers, expected, "{arrival:?}");
        assert_eq!((counts.intended as usize, counts.refused), (expected.len(), 0));
    }
}

#[test]
fn who_learns_late_of_a_window_sends_late_what_was_due_and_leaves_nothing_out() {
    let (sender, sent) = sender(periodic(1000.0, Arrival::Fixed));
    let now_ns = clock::now_ns();
    let begin_ns = now_ns - 30_000_000;
    sent.gate.open(Window::learned_of(
        begin_ns - 1,
        now_ns,
        begin_ns,
        begin_ns + 50_000_000,
    ));
    let counts = run(sender, now_ns).unwrap();
    assert_eq!(*sent.numbers.lock().unwrap(), (0..50).collect::<Vec<u32>>());
    assert_eq!((counts.intended, counts.unsent), (50, 0));
}

#[test]
fn who_was_started_within_a_window_takes_part_from_then_on() {
    let window = |started_ns| Window::learned_of(started_ns, 700, 500, 1000);
    assert_eq!(
        [window(499), window(500), window(501)].map(|window| window.joined_ns),
        [500, 500, 700]
    );
}

#[test]
fn who_is_there_from_the_beginning_starts_at_zero() {
    let (numbers, counts) = joined(periodic(1000.0, Arrival::Fixed), -5_000_000, 15_000_000);
    assert_eq!((numbers, counts.intended), ((0..10).collect(), 10));
}

#[test]
fn who_floods_an_open_window_begins_behind_all_that_may_have_been_sent() {
    let pattern = PatternSpec::Unthrottled {
        approach_hz: 1.0,
        messages: Some(5),
    };
    let (numbers, _) = joined(pattern, 300_000_000, 700_000_000);
    assert_eq!(numbers, [300, 301, 302, 303, 304]);
}

#[test]
fn a_window_that_is_over_has_nothing_left_to_send() {
    for pattern in [
        periodic(1000.0, Arrival::Fixed),
        PatternSpec::Unthrottled {
            approach_hz: 1.0,
            messages: None,
        },
    ] {
        let (numbers, counts) = joined(pattern, 500_000_000, -100_000_000);
        assert_eq!((numbers, counts.intended), (vec![], 0));
    }
}
