//! The system's Mosquitto: where its executable is, which version it has and since when there is that version.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use middlemark_contract::Library;
use middlemark_runtime::system_package;

/// Where the system's Mosquitto is.
pub(crate) fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|folder| folder.join("mosquitto"))
        .find(|file| file.is_file())
}

/// What it says of itself; none where it isn't there or doesn't run.
pub(crate) fn library() -> Option<Library> {
    let program = find()?;
    let answer = Command::new(&program).arg("-h").output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let version = version(&text)?.to_owned();
    Some(Library {
        name: "mosquitto".into(),
        released: system_package::released(&["mosquitto"], &version),
        version,
        origin: format!("the system's {}", program.display()),
    })
}

/// `mosquitto version 2.0.11`, the first line of its help.
fn version(help: &str) -> Option<&str> {
    help.lines().next()?.strip_prefix("mosquitto version ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_its_help_has_the_version() {
        let help = "mosquitto version 2.0.11\n\nmosquitto is an MQTT v5.0/v3.1.1/v3.1 broker.\n";
        assert_eq!(version(help), Some("2.0.11"));
        assert_eq!(version(""), None);
    }
}
