//! Whom a real broker lets in.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;

use middlemark_contract::{CONTRACT_VERSION, CredentialsRequest, CredentialsSet, SecretFiles, Security};
use middlemark_credentials::tls::{AUTHORITY, provider};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use super::*;
use crate::credentials;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn options() -> Options {
    Options::resolve(&crate::description::describe(), "default", &BTreeMap::new()).unwrap()
}

fn rendezvous(folder: &Path) -> Value {
    let free = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap();
    json!({"name": "t", "token": 1, "domain": 0, "first_port": free.port(), "ports": 1, "folder": folder})
}

/// Of one application, which publishes, and one broker.
fn credentials(rendezvous: &Value) -> CredentialsSet {
    let request: CredentialsRequest = serde_json::from_value(json!({
        "contract_version": CONTRACT_VERSION, "level": "encrypted", "rendezvous": rendezvous, "profile": "default",
        "options": {}, "services": [{"service": "broker", "index": 0, "addresses": [HERE]}],
        "streams": [{
            "name": "imu", "size_bytes": 64, "publishers": [], "subscribers": [], "qos": middlemark_contract::Qos::RELIABLE,
            "pattern": {"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}},
        }],
        "applications": [{
            "application": "publisher_0", "addresses": [HERE],
            "endpoints": [{"stream": "imu", "role": "publisher", "index": 0}],
        }],
    }))
    .unwrap();
    credentials::made(&request, &options()).unwrap()
}

fn security(files: &SecretFiles) -> Security {
    Security {
        level: SecurityLevel::Encrypted,
        files: files.clone(),
    }
}

fn broker(rendezvous: &Value, set: &CredentialsSet) -> Mosquitto {
    let mut spec: ServiceSpec = serde_json::from_value(json!({
        "contract_version": CONTRACT_VERSION, "service": "broker", "index": 0, "addresses": [HERE], "interface": "lo",
        "rendezvous": rendezvous, "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0,
        "largest_message_bytes": 1000, "queue_bytes": 4000, "congestion": "drop", "patience_ns": 0,
        "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
    }))
    .unwrap();
    spec.security = Some(security(&set.services[0].files));
    Mosquitto::start(&spec, &options()).unwrap()
}

fn connected(rendezvous: &Value) -> TcpStream {
    let port = rendezvous["first_port"].as_u64().unwrap() as u16;
    let stream = TcpStream::connect((HERE, port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Over TLS as somebody who trusts the broker and shows nothing.
fn without_certificate(stream: TcpStream, files: &SecretFiles) -> StreamOwned<ClientConnection, TcpStream> {
    let mut authorities = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(files.text(AUTHORITY).unwrap().as_bytes()).unwrap();
    authorities.add(authority).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(authorities)
        .with_no_client_auth();
    StreamOwned::new(ClientConnection::new(Arc::new(client), HERE.into()).unwrap(), stream)
}

#[test]
fn an_encrypted_broker_lets_nobody_in_who_shows_no_certificate_of_the_trial() {
    let folder = tempfile::tempdir().unwrap();
    let rendezvous = rendezvous(folder.path());
    let (of_trial, of_another) = (credentials(&rendezvous), credentials(&rendezvous));
    let broker = broker(&rendezvous, &of_trial);
    let own = &of_trial.applications["publisher_0"];
    let mut foreign = of_another.applications["publisher_0"].clone();
    foreign.0.insert(AUTHORITY.into(), own.0[AUTHORITY].clone());
    let as_client = |files| encrypted(connected(&rendezvous), HERE, &security(files)).unwrap();

    greet(as_client(own), false).unwrap();
    assert!(greet(as_client(&foreign), false).is_err());
    assert!(greet(without_certificate(connected(&rendezvous), own), false).is_err());
    assert!(greet(connected(&rendezvous), false).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "secrets are left");
    Box::new(broker).stop().unwrap();
}
