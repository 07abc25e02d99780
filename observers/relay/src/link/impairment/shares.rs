//! What is done to a share of the frames, one function for each.
//!
//! Whether a frame is affected is drawn before, in `effect`; a function that draws further numbers draws them for
//! every frame.

use crate::link::chance::Chance;
use crate::link::fate::Fate;

/// It vanishes.
pub(super) fn lose(affected: bool, fate: &mut Fate<'_>, _: &mut Chance) {
    fate.lost |= affected;
}

/// It arrives twice, the copy right behind.
pub(super) fn duplicate(affected: bool, fate: &mut Fate<'_>, _: &mut Chance) {
    fate.copies += u64::from(affected);
}

/// It skips the delay.
pub(super) fn overtake(affected: bool, fate: &mut Fate<'_>, _: &mut Chance) {
    fate.overtakes |= affected;
}

/// One of its bits is flipped, any with the same chance.
pub(super) fn corrupt(affected: bool, fate: &mut Fate<'_>, chance: &mut Chance) {
    let place = chance.draw();
    if !affected {
        return;
    }
    let bit = (place * fate.frame.len() as f64 * 8.0) as usize;
    if let Some(byte) = fate.frame.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
        fate.corrupted = true;
    }
}
