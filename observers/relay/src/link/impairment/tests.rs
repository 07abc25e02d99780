use super::*;

const FRAMES: usize = 200_000;

/// What `of` says of the fates of so many frames of 100 bytes, all zero.
fn fates<T>(impairment: &Impairment, seed: u64, direction: u64, of: impl Fn(&Fate<'_>) -> T) -> Vec<T> {
    let mut chance = Chance::new(seed, direction);
    (0..FRAMES)
        .map(|_| {
            let mut frame = [0; 100];
            let mut fate = Fate::of(&mut frame);
            impairment.decide(&mut fate, &mut chance);
            of(&fate)
        })
        .collect()
}

/// Within five standard deviations of a binomial: a fixed seed makes the outcome repeatable.
fn is_fraction(fates: &[bool], fraction: f64) -> bool {
    let (count, expected) = (
        fates.iter().filter(|&&affected| affected).count(),
        FRAMES as f64 * fraction,
    );
    (count as f64 - expected).abs() < 5.0 * (expected * (1.0 - fraction)).sqrt()
}

fn refusal(json: &str) -> String {
    serde_json::from_str::<Impairment>(json)
        .unwrap()
        .check("outgoing")
        .unwrap_err()
}

#[test]
fn the_default_is_accepted_and_changes_nothing() {
    let impairment: Impairment = serde_json::from_str("{}").unwrap();
    assert_eq!(impairment, Impairment::default());
    impairment.check("outgoing").unwrap();
    let is_plain = |fate: &Fate<'_>| {
        let goes_on = !fate.lost && !fate.overtakes && fate.delay_ns == 0 && fate.copies == 0;
        goes_on && !fate.corrupted && fate.frame == [0; 100]
    };
    assert!(fates(&impairment, 1, 0, is_plain).iter().all(|&is_plain| is_plain));
}

#[test]
fn figures_that_cannot_be_meant_are_refused_by_name() {
    assert!(refusal(r#"{"loss": 1.5}"#).contains("outgoing.loss"));
    assert!(refusal(r#"{"corruption": -0.1}"#).contains("outgoing.corruption"));
    assert!(refusal(r#"{"delay_ns": -1}"#).contains("outgoing.delay_ns"));
    assert!(refusal(r#"{"queue_frames": 0}"#).contains("outgoing.queue_frames"));
    assert!(refusal(r#"{"rate_bits_per_s": 0}"#).contains("outgoing.rate_bits_per_s"));
}

#[test]
fn an_unknown_field_is_refused() {
    assert!(serde_json::from_str::<Impairment>(r#"{"delay_ms": 1}"#).is_err());
}

#[test]
fn each_share_is_of_its_own_frames() {
    let impairment = Impairment {
        loss: 0.1,
        duplication: 0.02,
        reordering: 0.25,
        corruption: 0.01,
        ..Default::default()
    };
    let is_share = |share, of: fn(&Fate<'_>) -> bool| is_fraction(&fates(&impairment, 42, 0, of), share);
    assert!(is_share(0.1, |fate| fate.lost));
    assert!(is_share(0.02, |fate| fate.copies == 1));
    assert!(is_share(0.25, |fate| fate.overtakes));
    assert!(is_share(0.01, |fate| fate.corrupted));
    assert!(is_share(0.025, |fate| fate.lost && fate.overtakes));
}

#[test]
fn all_frames_are_all() {
    let all = Impairment {
        loss: 1.0,
        ..Default::default()
    };
    assert!(fates(&all, 1, 0, |fate| fate.lost).iter().all(|&lost| lost));
}

#[test]
fn a_corrupted_frame_differs_in_one_bit_anywhere() {
    let all = Impairment {
        corruption: 1.0,
        ..Default::default()
    };
    let flipped = fates(&all, 1, 0, |fate| {
        let bits = fate.frame.iter().map(|byte| byte.count_ones()).sum::<u32>();
        (fate.corrupted, bits, fate.frame.iter().position(|&byte| byte > 0))
    });
    assert!(flipped.iter().all(|&(corrupted, bits, _)| corrupted && bits == 1));
    let places: std::collections::BTreeSet<_> = flipped.iter().filter_map(|&(_, _, place)| place).collect();
    assert!(places.into_iter().eq(0..100));
}

#[test]
fn the_pattern_repeats_with_the_seed_and_only_with_it() {
    let impairment = Impairment {
        loss: 0.1,
        jitter_ns: 1000,
        ..Default::default()
    };
    let of = |seed, direction| fates(&impairment, seed, direction, |fate| (fate.lost, fate.delay_ns));
    assert_eq!(of(7, 0), of(7, 0));
    assert_ne!(of(7, 0), of(8, 0));
    assert_ne!(of(7, 0), of(7, 1));
}

#[test]
fn another_impairment_does_not_shift_the_pattern_of_loss() {
    let losses = |impairment: &Impairment| fates(impairment, 7, 0, |fate| fate.lost);
    let plain = Impairment {
        loss: 0.1,
        ..Default::default()
    };
    let more = Impairment {
        jitter_ns: 5,
        duplication: 0.3,
        corruption: 0.2,
        distribution: Distribution::Normal,
        ..plain.clone()
    };
    assert_eq!(losses(&plain), losses(&more));
}

#[test]
fn jitter_has_the_asked_width() {
    let mut impairment = Impairment {
        delay_ns: 10_000_000,
        jitter_ns: 1_000_000,
        ..Default::default()
    };
    let jitter_ns = |impairment: &Impairment| fates(impairment, 3, 0, |fate| (fate.delay_ns - 10_000_000) as f64);
    let spread = |jitter_ns: &[f64]| {
        (jitter_ns.iter().map(|deviation_ns| deviation_ns.powi(2)).sum::<f64>() / FRAMES as f64).sqrt()
    };
    let uniform = jitter_ns(&impairment);
    assert!(uniform.iter().all(|deviation_ns| deviation_ns.abs() <= 1e6));
    assert!((spread(&uniform) - 1e6 / 3.0_f64.sqrt()).abs() < 5e3);
    impairment.distribution = Distribution::Normal;
    assert!((spread(&jitter_ns(&impairment)) - 1e6).abs() < 1e4);
}
