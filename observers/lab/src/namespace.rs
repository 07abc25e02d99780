//! An anonymous network namespace, gone with the process that holds it.

use std::process::{Command, Stdio};

use crate::speaker::Speaker;

/// One such namespace; the machine's own is left as it is.
pub struct Namespace {
    holder: Speaker,
}

impl Namespace {
    /// Makes it, or says why it can't be had. Without root, all of them belong to the user namespace of the first.
    pub fn make(first: Option<&Self>) -> Result<Self, String> {
        let mut command = match first {
            Some(first) if !is_root() => {
                let mut command = Command::new("nsenter");
                command.args([
                    "--target",
                    &first.id().to_string(),
                    "--user",
                    "--preserve-credentials",
                    "unshare",
                    "--net",
                ]);
                command
            }
            _ => {
                let mut command = Command::new("unshare");
                command.args(if is_root() {
                    &["--net"][..]
                } else {
                    &["--user", "--map-root-user", "--net"][..]
                });
                command
            }
        };
        command
            .args(["sh", "-c", "echo ready; exec cat > /dev/null"])
            .stderr(Stdio::null());
        let mut holder = Speaker::start(&mut command);
        if holder.hear() != "ready" {
            return Err("network namespaces can't be made here (neither as root nor with user namespaces)".to_owned());
        }
        let namespace = Self { holder };
        // Frames that no test sent would be counted with those it did.
        namespace.run("for of in all default; do echo 1 > /proc/sys/net/ipv6/conf/$of/disable_ipv6; done")?;
        Ok(namespace)
    }

    /// The process that holds it, by which `ip` names it.
    pub fn id(&self) -> u32 {
        self.holder.id()
    }

    /// What runs a program within it; the program and its arguments are still to be added.
    pub fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.id().to_string(), "--net"]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--");
        command
    }

    /// Runs a script of the shell within it, up to its first command that fails.
    pub fn run(&self, script: &str) -> Result<(), String> {
        let output = self.enter().args(["sh", "-ec", script]).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{script}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn is_root() -> bool {
    // SAFETY: asks for a number, changes nothing.
    unsafe { libc::geteuid() == 0 }
}
