use super::*;

const MS: i64 = 1_000_000;

fn path(impairment: Impairment) -> Path {
    Path::new(impairment, Chance::new(1, 0), 4096, 128)
}

/// Sends numbered frames 1 ms apart and gives (released at, number) of all that came out by the end.
fn released(path: &mut Path, frames: i64) -> Vec<(i64, u8)> {
    let mut out = Vec::new();
    for number in 0..frames {
        path.accept(&mut [number as u8; 100], number * MS);
    }
    while let Some(next_ns) = path.next_ns() {
        path.release(next_ns, |frame| {
            out.push((next_ns, frame[0]));
            true
        });
    }
    out
}

fn is_balanced(path: &Path) -> bool {
    let counts = path.counts();
    counts.frames_in + counts.duplicated
        == counts.frames_out
            + counts.dropped_by_loss
            + counts.dropped_by_queue
            + counts.dropped_by_memory
            + counts.dropped_too_long
            + counts.refused_by_interface
            + path.in_flight()
}

#[test]
fn a_frame_comes_out_whole_after_the_delay_and_not_before() {
    let mut path = path(Impairment {
        delay_ns: 10 * MS,
        ..Default::default()
    });
    path.accept(&mut [7; 64], 5);
    assert!(!path.release(10 * MS + 4, |_| true));
    assert!(path.release(10 * MS + 8, |frame| frame == [7; 64]));
    assert_eq!((path.lateness().n, path.lateness().max_ns), (1, 3));
    assert!(is_balanced(&path));
}

#[test]
fn jitter_keeps_the_order_unless_told_otherwise() {
    let mut impairment = Impairment {
        delay_ns: 10 * MS,
        jitter_ns: 10 * MS,
        ..Default::default()
    };
    let mut kept = path(impairment.clone());
    assert!(released(&mut kept, 200).is_sorted_by_key(|(_, number)| *number));
    assert_eq!(kept.counts().reordered, 0);
    impairment.keep_order = false;
    let mut mixed = path(impairment);
    assert!(!released(&mut mixed, 200).is_sorted_by_key(|(_, number)| *number));
    assert!(mixed.counts().reordered > 0);
}

#[test]
fn a_frame_that_overtakes_skips_the_delay_and_delays_no_other() {
    let mut path = path(Impairment {
        delay_ns: 10 * MS,
        reordering: 0.2,
        ..Default::default()
    });
    let out = released(&mut path, 200);
    for (at_ns, number) in &out {
        let sent_ns = i64::from(*number) * MS;
        assert!(*at_ns == sent_ns || *at_ns == sent_ns + 10 * MS, "{number} at {at_ns}");
    }
    let early = out
        .iter()
        .filter(|(at_ns, number)| *at_ns == i64::from(*number) * MS)
        .count() as u64;
    assert!(early > 10 && path.counts().reordered <= early && path.counts().reordered > early / 2);
}

#[test]
fn a_duplicate_follows_its_original_at_once() {
    let mut path = path(Impairment {
        duplication: 1.0,
        delay_ns: 5,
        ..Default::default()
    });
    let out = released(&mut path, 3);
    assert_eq!(
        out.iter().map(|(_, number)| *number).collect::<Vec<_>>(),
        [0, 0, 1, 1, 2, 2]
    );
    assert!(is_balanced(&path) && path.counts().duplicated == 3);
}

#[test]
fn a_corrupted_frame_differs_in_one_bit() {
    let mut path = path(Impairment {
        corruption: 1.0,
        ..Default::default()
    });
    path.accept(&mut [0; 100], 0);
    let mut ones = 0;
    path.release(0, |frame| {
        ones = frame.iter().map(|byte| byte.count_ones()).sum();
        true
    });
    assert_eq!((ones, path.counts().corrupted), (1, 1));
}

#[test]
fn every_frame_is_in_one_account() {
    let mut path = Path::new(
        Impairment {
            rate_bits_per_s: Some(2_000_000),
            queue_frames: 8,
            delay_ns: 5 * MS,
            loss: 0.2,
            duplication: 0.2,
            ..Default::default()
        },
        Chance::new(9, 1),
        16,
        128,
    );
    for number in 0..2000_i64 {
        path.accept(&mut [0; 100], number * MS / 4);
        path.release(number * MS / 4, |_| number % 7 > 0);
        assert!(is_balanced(&path));
    }
    let counts = path.counts();
    let all = [
        counts.dropped_by_loss,
        counts.dropped_by_queue,
        counts.dropped_by_memory,
    ];
    assert!(
        all.iter().all(|&count| count > 0) && counts.refused_by_interface > 0,
        "{counts:?}"
    );
}

#[test]
fn a_change_holds_for_the_next_frame_and_passes_none_under_way() {
    let mut path = path(Impairment {
        delay_ns: 10 * MS,
        ..Default::default()
    });
    path.accept(&mut [1; 60], 0);
    path.change(Impairment {
        delay_ns: MS,
        ..Default::default()
    });
    path.accept(&mut [2; 60], MS);
    path.accept(&mut [3; 60], 20 * MS);
    let mut out = Vec::new();
    while let Some(next_ns) = path.next_ns() {
        path.release(next_ns, |frame| {
            out.push((frame[0], next_ns / MS));
            true
        });
    }
    assert_eq!(out, [(1, 10), (2, 10), (3, 21)]);
}

#[test]
fn no_frame_costs_an_allocation() {
    let mut path = path(Impairment {
        rate_bits_per_s: Some(1_000_000_000),
        delay_ns: MS,
        jitter_ns: MS,
        keep_order: false,
        duplication: 0.1,
        corruption: 0.1,
        loss: 0.1,
        ..Default::default()
    });
    let allocations = crate::allocations::during(|| {
        for number in 0..20_000_i64 {
            path.accept(&mut [0; 128], number * 1500);
            while path.release(number * 1500, |_| true) {}
        }
    });
    assert_eq!(allocations, 0);
    assert!(crate::allocations::during(|| drop(Box::new(1))) == 1 && path.counts().dropped_by_queue == 0);
}
