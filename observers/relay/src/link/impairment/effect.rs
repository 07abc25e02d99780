//! What an impairment is: its figures are checked, and it decides what becomes of each frame.
//!
//! Effects are put one behind the other, and all of them are one effect again, so that the list of them in `mod` is
//! checked and carried out without a branch or a call of its own for any of them.

use crate::link::chance::Chance;
use crate::link::fate::Fate;

/// One effect of a link, with its figures.
pub(crate) trait Effect {
    /// Says what can't be meant, naming the field below `place`.
    fn check(&self, place: &str) -> Result<(), String>;

    /// Decides about the next frame. It draws as many numbers whatever its figures are, so that these change no other
    /// effect's.
    fn decide(&self, fate: &mut Fate<'_>, chance: &mut Chance);

    /// This effect, and then another.
    fn then<Next: Effect>(self, next: Next) -> (Self, Next)
    where
        Self: Sized,
    {
        (self, next)
    }
}

impl<First: Effect, Next: Effect> Effect for (First, Next) {
    fn check(&self, place: &str) -> Result<(), String> {
        self.0.check(place)?;
        self.1.check(place)
    }

    fn decide(&self, fate: &mut Fate<'_>, chance: &mut Chance) {
        self.0.decide(fate, chance);
        self.1.decide(fate, chance);
    }
}

/// An effect on a share of the frames.
pub(crate) struct Share<Act> {
    field: &'static str,
    fraction: f64,
    act: Act,
}

impl<Act: Fn(bool, &mut Fate<'_>, &mut Chance)> Share<Act> {
    /// `act` is called for every frame, and told whether the frame is affected.
    pub(crate) fn new(field: &'static str, fraction: f64, act: Act) -> Self {
        Self { field, fraction, act }
    }
}

impl<Act: Fn(bool, &mut Fate<'_>, &mut Chance)> Effect for Share<Act> {
    fn check(&self, place: &str) -> Result<(), String> {
        if (0.0..=1.0).contains(&self.fraction) {
            return Ok(());
        }
        Err(format!(
            "`{place}.{}` is {}: a fraction from 0 to 1",
            self.field, self.fraction
        ))
    }

    fn decide(&self, fate: &mut Fate<'_>, chance: &mut Chance) {
        let affected = chance.draw() < self.fraction;
        (self.act)(affected, fate, chance);
    }
}
