//! What becomes of a frame on its way through a link: impairments decide it, and `path` makes it so.

/// A frame that has come in, and what becomes of it; it goes on at once and whole unless an impairment decides otherwise.
pub(crate) struct Fate<'a> {
    /// The frame; an impairment may change its bytes or cut it short.
    pub(crate) frame: &'a mut [u8],
    pub(crate) lost: bool,
    /// How many times it is sent again behind itself.
    pub(crate) copies: u64,
    /// Whether its bytes are no longer those that came.
    pub(crate) corrupted: bool,
    /// Sent on without the delay.
    pub(crate) overtakes: bool,
    /// From its last bit serialised to its release.
    pub(crate) delay_ns: i64,
}

impl<'a> Fate<'a> {
    pub(crate) fn of(frame: &'a mut [u8]) -> Self {
        Self {
            frame,
            lost: false,
            copies: 0,
            corrupted: false,
            overtakes: false,
            delay_ns: 0,
        }
    }
}
