//! The signature of a document: S/MIME with the text in the clear, as `openssl smime -sign -text` makes it and the security
//! plugins of DDS read it (section 9.4.1.1 of DDS Security).

use openssl::error::ErrorStack;
use openssl::pkcs7::{Pkcs7, Pkcs7Flags};
use openssl::pkey::PKey;
use openssl::stack::Stack;
use openssl::x509::X509;

/// A text beside its signature, and both as MIME text.
const FLAGS: Pkcs7Flags = Pkcs7Flags::TEXT.union(Pkcs7Flags::DETACHED);

/// The document with the signature of an authority, SHA-256 by OpenSSL's default.
pub(super) fn signed(document: &str, certificate_pem: &str, key_pem: &str) -> Result<String, ErrorStack> {
    let certificate = X509::from_pem(certificate_pem.as_bytes())?;
    let key = PKey::private_key_from_pem(key_pem.as_bytes())?;
    let others = Stack::new()?;
    let signature = Pkcs7::sign(&certificate, &key, &others, document.as_bytes(), FLAGS)?;
    let text = signature.to_smime(document.as_bytes(), FLAGS)?;
    Ok(String::from_utf8(text).expect("S/MIME is text"))
}
