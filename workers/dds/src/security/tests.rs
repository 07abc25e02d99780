//! What is made for a trial: documents for each application, and signatures that hold for its own authority alone.

use std::collections::BTreeSet;

use middlemark_contract::{CredentialsRequest, CredentialsSet, SecretFiles, SecurityLevel};
use openssl::pkcs7::{Pkcs7, Pkcs7Flags};
use openssl::stack::Stack;
use openssl::x509::X509;
use openssl::x509::store::X509StoreBuilder;
use serde_json::json;

use super::*;

/// A ping-pong from `client` to `server`, and a stream that only `client` publishes.
fn request() -> CredentialsRequest {
    let at = |application: &str| json!({"application": application, "address": "127.0.0.1"});
    let qos = middlemark_contract::Qos::RELIABLE;
    let ping_pong = json!({
        "kind": "ping_pong", "approach_hz": 1.0, "answer_bytes": 64, "interval_ns": 0, "patience_ns": 1, "messages": null,
    });
    let periodic = json!({"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}});
    let endpoint = |stream: &str, role: &str| json!({"stream": stream, "role": role, "index": 0});
    let request = json!({
        "contract_version": 2, "level": "encrypted", "profile": "default", "options": {}, "services": [],
        "rendezvous": {"name": "m", "token": 1, "domain": 7, "first_port": 1000, "ports": 100, "folder": "/"},
        "streams": [
            {"name": "ping", "size_bytes": 64, "pattern": ping_pong, "qos": qos,
             "publishers": [at("client")], "subscribers": [at("server")]},
            {"name": "imu", "size_bytes": 64, "pattern": periodic, "qos": qos,
             "publishers": [at("client")], "subscribers": []},
        ],
        "applications": [
            {"application": "client", "addresses": [], "endpoints": [endpoint("ping", "publisher"), endpoint("imu", "publisher")]},
            {"application": "server", "addresses": [], "endpoints": [endpoint("ping", "subscriber")]},
        ],
    });
    serde_json::from_value(request).unwrap()
}

fn made() -> CredentialsSet {
    credentials(&request(), Layers::Every).unwrap()
}

/// The document that a file has, if the signature is the authority's.
fn verified(signed: &str, authority_pem: &str) -> Option<String> {
    let (signature, content) = Pkcs7::from_smime(signed.as_bytes()).unwrap();
    let mut signers = Stack::new().unwrap();
    signers.push(X509::from_pem(authority_pem.as_bytes()).unwrap()).unwrap();
    let nobody = X509StoreBuilder::new().unwrap().build();
    let mut document = Vec::new();
    // As the plugins ask: the signer must be the given authority itself, whatever the signature brings along.
    let flags = Pkcs7Flags::TEXT | Pkcs7Flags::NOVERIFY | Pkcs7Flags::NOINTERN;
    let verified = signature.verify(&signers, &nobody, content.as_deref(), Some(&mut document), flags);
    verified.ok().map(|()| String::from_utf8(document).unwrap())
}

fn document(files: &SecretFiles, name: &str) -> String {
    verified(files.text(name).unwrap(), files.text(PERMISSIONS_AUTHORITY).unwrap()).unwrap()
}

#[test]
fn a_document_is_signed_by_its_trials_authority_and_by_no_other() {
    let (one, other) = (made(), made());
    let (files, foreign) = (&one.applications["client"], &other.applications["client"]);
    for name in [GOVERNANCE, PERMISSIONS] {
        assert!(document(files, name).starts_with("<?xml"), "{name}");
        let text = files.text(name).unwrap();
        assert_eq!(
            verified(text, foreign.text(PERMISSIONS_AUTHORITY).unwrap()),
            None,
            "{name}"
        );
        // Nor does the authority of identities sign documents.
        assert_eq!(verified(text, files.text(IDENTITY_AUTHORITY).unwrap()), None, "{name}");
        let changed = text.replace("<id>7</id>", "<id>8</id>");
        assert_eq!(
            verified(&changed, files.text(PERMISSIONS_AUTHORITY).unwrap()),
            None,
            "{name}"
        );
    }
}

#[test]
fn an_application_may_use_its_own_topics_in_its_own_role_and_no_other() {
    let made = made();
    let rights = |application: &str| document(&made.applications[application], PERMISSIONS);
    let allowed = |rights: &str, from: &str, to: &str| {
        let part = rights.split_once(from).unwrap().1.split_once(to).unwrap().0;
        let topics = part
            .split("<topic>")
            .skip(1)
            .map(|rest| rest.split_once('<').unwrap().0.to_owned());
        topics.collect::<Vec<_>>()
    };
    for (application, publishes, subscribes) in [
        ("client", vec!["m_0_ping", "m_2_imu"], vec!["m_1_ping"]),
        ("server", vec!["m_1_ping"], vec!["m_0_ping"]),
    ] {
        let rights = rights(application);
        assert_eq!(allowed(&rights, "<publish>", "</publish>"), publishes);
        assert_eq!(allowed(&rights, "<subscribe>", "</subscribe>"), subscribes);
        assert!(
            rights.contains(&format!("<subject_name>CN={application}</subject_name>")),
            "{rights}"
        );
        assert!(rights.contains("<domains><id>7</id></domains>"), "{rights}");
        assert!(
            rights.ends_with("</allow_rule><default>DENY</default></grant></permissions></dds>"),
            "{rights}"
        );
    }
}

#[test]
fn a_certificate_names_its_application_and_is_of_its_trials_authority() {
    let (one, other) = (made(), made());
    let files = &one.applications["client"];
    let certificate = X509::from_pem(files.text(CERTIFICATE).unwrap().as_bytes()).unwrap();
    let common_name = certificate.subject_name().entries().next().unwrap().data().as_slice();
    assert_eq!(common_name, b"client");
    let signed_by = |set: &CredentialsSet| {
        let authority = set.applications["client"].text(IDENTITY_AUTHORITY).unwrap();
        let key = X509::from_pem(authority.as_bytes()).unwrap().public_key().unwrap();
        certificate.verify(&key).unwrap()
    };
    assert_eq!([&one, &other].map(signed_by), [true, false]);
}

#[test]
fn every_application_has_a_key_of_its_own_and_no_authority_gives_its_key_away() {
    let made = made();
    let secrets = |files: &SecretFiles| files.0.iter().filter(|(_, text)| text.contains("PRIVATE KEY")).count();
    assert!(made.applications.values().all(|files| secrets(files) == 1));
    let keys: BTreeSet<_> = made
        .applications
        .values()
        .map(|files| files.text(KEY).unwrap())
        .collect();
    assert_eq!(keys.len(), 2);
}

#[test]
fn an_application_without_a_topic_in_a_role_has_no_rule_for_that_role() {
    let mut request = request();
    request.applications[1].endpoints.clear();
    let set = credentials(&request, Layers::Every).unwrap();
    let rights = document(&set.applications["server"], PERMISSIONS);
    assert!(!rights.contains("publish") && !rights.contains("subscribe"), "{rights}");
}

#[test]
fn a_name_that_is_markup_stays_a_name() {
    let mut request = request();
    request.streams[1].name = "imu</topic><topic>*".into();
    request.applications[0].endpoints[1].stream = request.streams[1].name.clone();
    let set = credentials(&request, Layers::Every).unwrap();
    let rights = document(&set.applications["client"], PERMISSIONS);
    assert!(rights.contains("imu&lt;/topic"), "{rights}");
    assert!(!rights.contains("<topic>*</topic>"), "{rights}");
}

#[test]
fn a_level_is_stated_with_its_algorithm() {
    let [authenticated, encrypted] = SecurityLevel::ALL.map(|level| {
        let set = credentials(&CredentialsRequest { level, ..request() }, Layers::Every).unwrap();
        set.stated["messages"].clone()
    });
    assert!(
        authenticated.starts_with("SIGN") && authenticated.ends_with("AES256-GMAC"),
        "{authenticated}"
    );
    assert!(
        encrypted.starts_with("ENCRYPT") && encrypted.ends_with("AES256-GCM"),
        "{encrypted}"
    );
}

#[test]
fn the_layers_that_are_protected_are_stated_and_signed() {
    let set = credentials(&request(), Layers::Rtps).unwrap();
    let governance = document(&set.applications["client"], GOVERNANCE);
    assert_eq!(governance.matches("NONE").count(), 4, "{governance}");
    let mut settings = [("protection".to_owned(), "rtps".to_owned())].into();
    state(Some(SecurityLevel::Encrypted), &mut settings);
    assert_eq!(settings["security"], set.stated["messages"]);
    assert!(
        settings["security"].starts_with("ENCRYPT of RTPS messages"),
        "{settings:?}"
    );
}
