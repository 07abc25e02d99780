//! Finds the broker, without which this worker can measure nothing, and the version of the client that is linked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Where distributions install daemons, beside PATH.
const DAEMONS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

fn main() {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(DAEMONS.iter().map(PathBuf::from));
    match folders
        .map(|folder| folder.join("mosquitto"))
        .find(|file| file.is_file())
    {
        Some(file) => println!("cargo::rerun-if-changed={}", file.display()),
        None => println!("cargo::error=mosquitto not found: apt-get install mosquitto"),
    }
    println!("cargo::rerun-if-env-changed=PATH");
    let lock = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rustc-env=MIDDLEMARK_RUMQTTC_VERSION={}", locked_version(&lock));
}

/// rumqttc does not report its version at run time; what is linked is what is locked.
fn locked_version(lock: &Path) -> String {
    let text = fs::read_to_string(lock).unwrap_or_else(|error| panic!("reading {}: {error}", lock.display()));
    let (_, package) = text
        .split_once("name = \"rumqttc\"\nversion = \"")
        .unwrap_or_else(|| panic!("no rumqttc in {}", lock.display()));
    package.split('"').next().unwrap_or_default().to_owned()
}
