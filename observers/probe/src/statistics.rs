//! Figures from counts: quantiles, and an interval for a fraction.

use serde::Serialize;

/// The 97.5 % point of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A fraction with its 95 % interval.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Fraction {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Wilson's score interval (Wilson 1927; Brown, Cai and `DasGupta` 2001): it holds at fractions near 0 and 1 too.
/// None when nothing was tried.
pub(crate) fn fraction(count: u32, of: u32) -> Option<Fraction> {
    if of == 0 {
        return None;
    }
    let (n, value) = (f64::from(of), f64::from(count) / f64::from(of));
    let centre = (value + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Fraction {
        value,
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    })
}

/// The smallest value that at least the fraction `q` of all are not above (nearest rank); none when there is none.
pub(crate) fn quantile(sorted: &[i64], q: f64) -> Option<i64> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // Brown, Cai and DasGupta's method by hand for 10 of 100.
        let ten = fraction(10, 100).unwrap();
        assert!(
            (ten.low - 0.055_229).abs() < 1e-5 && (ten.high - 0.174_367).abs() < 1e-5,
            "{ten:?}"
        );
        let none = fraction(0, 1000).unwrap();
        assert!(
            none.low.abs() < 1e-12 && (none.high - 0.003_827).abs() < 1e-5,
            "{none:?}"
        );
        let all = fraction(50, 50).unwrap();
        assert!((all.high - 1.0).abs() < 1e-12 && all.low > 0.9);
        assert_eq!(fraction(0, 0), None);
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<i64> = (1..=100).collect();
        assert_eq!(
            [0.0, 0.5, 0.9, 0.99, 1.0].map(|q| quantile(&values, q).unwrap()),
            [1, 50, 90, 99, 100]
        );
        assert_eq!(quantile(&[7], 0.99), Some(7));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
