//! How much later than due things happened: counted in logarithmic buckets of 1/16, without allocating.

use std::collections::BTreeMap;

const SUB_BUCKET_BITS: u32 = 4;

#[derive(Debug, Clone)]
pub(crate) struct Lateness {
    counts: Box<[u64]>,
    count: u64,
    largest_ns: u64,
}

impl Lateness {
    pub(crate) fn new() -> Lateness {
        Lateness {
            counts: vec![0; 64 << SUB_BUCKET_BITS].into(),
            count: 0,
            largest_ns: 0,
        }
    }

    pub(crate) fn record(&mut self, late_ns: i64) {
        let late_ns = late_ns.max(0) as u64;
        self.counts[bucket(late_ns)] += 1;
        self.count += 1;
        self.largest_ns = self.largest_ns.max(late_ns);
    }

    /// The upper end of the bucket below which this share lies.
    fn quantile_ns(&self, share: f64) -> u64 {
        let rank = (share * self.count as f64).ceil() as u64;
        let mut passed = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            passed += count;
            if passed >= rank {
                return upper(bucket).min(self.largest_ns);
            }
        }
        self.largest_ns
    }

    /// Median, 99th percentile, largest and count, by name.
    pub(crate) fn words(&self, of: &str) -> BTreeMap<String, String> {
        [
            (format!("{of}_median_ns"), self.quantile_ns(0.5)),
            (format!("{of}_p99_ns"), self.quantile_ns(0.99)),
            (format!("{of}_max_ns"), self.largest_ns),
            (format!("{of}_count"), self.count),
        ]
        .map(|(name, value)| (name, value.to_string()))
        .into()
    }
}

fn bucket(value: u64) -> usize {
    let exponent = (64 - value.leading_zeros()).saturating_sub(SUB_BUCKET_BITS + 1);
    ((u64::from(exponent) << SUB_BUCKET_BITS) + (value >> exponent)) as usize
}

fn upper(bucket: usize) -> u64 {
    let exponent = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
    let mantissa = bucket - (exponent << SUB_BUCKET_BITS);
    ((mantissa as u64 + 1) << exponent) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_part_in_16_above() {
        let mut lateness = Lateness::new();
        for late_ns in 1..=10_000 {
            lateness.record(late_ns);
        }
        for share in [0.01, 0.5, 0.99] {
            let (found, exact) = (lateness.quantile_ns(share) as f64, share * 10_000.0);
            assert!(found >= exact && found <= exact * (17.0 / 16.0), "{found} for {exact}");
        }
        assert_eq!(lateness.words("x")["x_max_ns"], "10000");
    }

    #[test]
    fn what_is_early_counts_as_on_time() {
        let mut lateness = Lateness::new();
        lateness.record(-5);
        assert_eq!((lateness.quantile_ns(0.5), lateness.count), (0, 1));
    }
}
