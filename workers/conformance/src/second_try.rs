//! A second try of a check that failed, as what else the machine does can spoil a trial.
//!
//! Only a second failure counts; each second try is listed at the end, so that a check which needs one is seen and mended.
//! No more than a few are allowed in a run, because so many are no accident of the machine. What a check demands, `checks` says.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;

/// As many as `make test-python` allows.
const MOST: usize = 3;

/// The second tries of a run.
#[derive(Default)]
pub(crate) struct SecondTries {
    names: Mutex<Vec<String>>,
}

impl SecondTries {
    /// Tries once, and once more after an error that may be an accident, while second tries are left.
    pub(crate) fn tried<T>(
        &self,
        name: &str,
        attempt: impl Fn() -> Result<T>,
        is_accident: impl Fn(&anyhow::Error) -> bool,
    ) -> Result<T> {
        match attempt() {
            Err(error) if is_accident(&error) && self.takes(name) => {
                eprintln!("{name} failed and is tried once more: {error:#}");
                attempt()
            }
            outcome => outcome,
        }
    }

    /// Whether one was left, which is then taken.
    fn takes(&self, name: &str) -> bool {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = names.len() < MOST;
        if is_left {
            names.push(name.into());
        }
        is_left
    }

    /// What a person is told at the end; nothing where there was none.
    pub(crate) fn told(&self) -> Option<String> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        (!names.is_empty()).then(|| format!("Second tries, to be mended:\n  {}", names.join("\n  ")))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::{bail, ensure};

    use super::{MOST, SecondTries};

    #[test]
    fn a_check_that_fails_once_passes_and_is_told() {
        let (tries, calls) = (SecondTries::default(), Cell::new(0));
        let outcome = tries.tried(
            "a_check",
            || {
                calls.set(calls.get() + 1);
                ensure!(calls.get() > 1, "disturbed");
                Ok(calls.get())
            },
            |_| true,
        );
        assert_eq!(outcome.unwrap(), 2);
        assert_eq!(tries.told().unwrap(), "Second tries, to be mended:\n  a_check");
    }

    #[test]
    fn only_a_few_are_tried_once_more() {
        let (tries, calls) = (SecondTries::default(), Cell::new(0));
        for _ in 0..=MOST {
            let failing = || {
                calls.set(calls.get() + 1);
                bail!("broken")
            };
            assert!(tries.tried::<()>("a_check", failing, |_| true).is_err());
        }
        assert_eq!(calls.get(), 2 * MOST + 1);
    }

    #[test]
    fn what_is_no_accident_is_not_tried_once_more() {
        let tries = SecondTries::default();
        assert!(tries.tried::<()>("a_check", || bail!("refused"), |_| false).is_err());
        assert_eq!(tries.told(), None);
    }
}
