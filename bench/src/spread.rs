//! Minimum, median and maximum of a few repetitions.

/// The spread of a figure over its repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) minimum: f64,
    pub(crate) median: f64,
    pub(crate) maximum: f64,
}

impl Spread {
    /// Of `repetitions` calls; at least one.
    pub(crate) fn of(repetitions: usize, figure: impl FnMut() -> f64) -> Spread {
        Spread::over(std::iter::repeat_with(figure).take(repetitions))
    }

    /// Of these values; at least one.
    pub(crate) fn over(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Spread {
            minimum: values[0],
            median: values[values.len() / 2],
            maximum: values[values.len() - 1],
        }
    }
}
