//! Passwords, and other bytes that nobody can guess.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::rand::{SecureRandom, SystemRandom};

/// What passwords are, in words.
pub const PASSWORDS_ARE: &str = "24 random bytes for each application";

const PASSWORD_BYTES: usize = 24;

/// The system gave none.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomNumbers;

/// A new one, in Base64.
pub fn password() -> Result<String, NoRandomNumbers> {
    Ok(BASE64_STANDARD.encode(bytes::<PASSWORD_BYTES>()?))
}

/// So many random bytes.
pub fn bytes<const BYTES: usize>() -> Result<[u8; BYTES], NoRandomNumbers> {
    let mut drawn = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut drawn);
    filled.map(|()| drawn).map_err(|_| NoRandomNumbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_drawn_twice() {
        let [one, other] = [password().unwrap(), password().unwrap()];
        assert_ne!(one, other);
        assert_eq!(BASE64_STANDARD.decode(one).unwrap().len(), PASSWORD_BYTES);
    }
}
