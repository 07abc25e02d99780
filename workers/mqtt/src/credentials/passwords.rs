//! The hashes of passwords, as `mosquitto_passwd` would write them.

use std::num::NonZeroU32;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use middlemark_credentials::secret::{self, NoRandomNumbers};
use ring::pbkdf2::{PBKDF2_HMAC_SHA512, derive};

/// How they are made, in words.
pub(super) const HASHES: &str = "PBKDF2 with HMAC-SHA-512, 101 iterations, 12 bytes of salt";

/// As `mosquitto_passwd` has them.
const SALT_BYTES: usize = 12;
const ITERATIONS: NonZeroU32 = NonZeroU32::new(101).expect("it is not 0");

/// A line of the password file.
pub(super) fn line(user: &str, password: &str) -> Result<String, NoRandomNumbers> {
    Ok(format!("{user}:{}\n", hashed(password, secret::bytes()?)))
}

fn hashed(password: &str, salt: [u8; SALT_BYTES]) -> String {
    let mut hash = [0; 64];
    derive(PBKDF2_HMAC_SHA512, ITERATIONS, &salt, password.as_bytes(), &mut hash);
    let encoded = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    format!("$7${ITERATIONS}${}${}", encoded(&salt), encoded(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hashed_as_mosquitto_passwd_does() {
        // mosquitto_passwd 2.0.11 -b, of `secret`, has this form: type, iterations, salt, hash.
        let hash = hashed("secret", [7; SALT_BYTES]);
        let parts: Vec<_> = hash.split('$').collect();
        assert_eq!(parts[..4], ["", "7", "101", "BwcHBwcHBwcHBwcH"]);
        assert_eq!(BASE64_STANDARD.decode(parts[4]).unwrap().len(), 64);
    }
}
