//! The service `broker`: Mosquitto as a child process, on a port of the trial's range, configured from the options.
//!
//! It writes one file, `mosquitto-<index>.conf`, below the trial's folder, and takes nothing from `/etc/mosquitto`; the child
//! dies with this process. What is in that file is for `configuration` to say.

mod log;
pub(crate) mod program;
mod reachable;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use middlemark_contract::{SecurityLevel, ServiceSpec};
use middlemark_credentials::SecretFolder;
use middlemark_runtime::{MiddlewareError, Options, Service};

use crate::broker::log::Log;
use crate::broker::reachable::{PATIENCE, encrypted, greet, wait_listening};
use crate::configuration::{self, BRIDGE_PASSWORD, Line};

/// Why the broker does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokerError {
    /// It is not installed.
    #[error("mosquitto is neither on PATH nor in /usr/sbin; install it: apt-get install mosquitto")]
    Missing,
    /// The operating system refused.
    #[error("{doing}")]
    System {
        /// What was being done.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
    /// What it was given to keep strangers out is not whole.
    #[error("{0}")]
    Credentials(String),
    /// It ended by itself.
    #[error("mosquitto ended; the end of its log: {log}")]
    Ended {
        /// Its last lines.
        log: String,
    },
    /// It did not say that it runs.
    #[error("mosquitto did not say within {} s that it runs; the end of its log: {log}", PATIENCE.as_secs())]
    Silent {
        /// Its last lines.
        log: String,
    },
    /// It did not end as it should.
    #[error("mosquitto was stopped and ended with {status}; the end of its log: {log}")]
    Unclean {
        /// Its exit status.
        status: String,
        /// Its last lines.
        log: String,
    },
}

/// What Mosquitto reads from files to keep strangers out; none where it is open to all.
fn secrets(spec: &ServiceSpec) -> io::Result<Option<SecretFolder>> {
    let process = format!("{}_{}", spec.service, spec.index);
    let security = spec.security.as_ref();
    security
        .map(|security| SecretFolder::write(&spec.rendezvous.folder, &process, &security.files))
        .transpose()
}

/// The configuration file; with security it lies where the other secrets do, as a bridge's password is in it.
fn write(spec: &ServiceSpec, settings: &[Line], secrets: Option<&SecretFolder>) -> io::Result<PathBuf> {
    let (name, text) = (
        format!("mosquitto-{}.conf", spec.index),
        configuration::render(settings),
    );
    match secrets {
        None => {
            let file = spec.rendezvous.folder.join(name);
            fs::write(&file, text).map(|()| file)
        }
        Some(secrets) => secrets.add(&name, &text).map(|()| secrets.path(&name)),
    }
}

fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> BrokerError {
    let doing = doing.into();
    move |source| BrokerError::System { doing, source }
}

/// A running broker.
pub(crate) struct Mosquitto {
    child: Child,
    log: Log,
    version: String,
    settings: BTreeMap<String, String>,
    socket: PathBuf,
    /// A bridge reads its certificates whenever it connects; without one nothing is kept.
    secrets: Option<SecretFolder>,
}

impl Mosquitto {
    /// Starts it, waits until it says that it runs, then until it has really served a client.
    pub(crate) fn start(spec: &ServiceSpec, options: &Options) -> Result<Mosquitto, BrokerError> {
        let program = program::find().ok_or(BrokerError::Missing)?;
        for broker in spec.connects_to() {
            let place = (broker.address, configuration::port(&spec.rendezvous, broker.index));
            wait_listening(place.into()).map_err(system(format!("waiting for the linked broker {}", broker.index)))?;
        }
        let secrets = secrets(spec).map_err(system("writing what keeps strangers out"))?;
        let settings = configuration::settings(spec, options, secrets.as_ref()).map_err(BrokerError::Credentials)?;
        let file = write(spec, &settings, secrets.as_ref()).map_err(system("writing the configuration"))?;
        let mut child = spawn(&program, &file).map_err(system(format!("starting {}", program.display())))?;
        let (sender, versions) = channel();
        let log = Log::read(child.stderr.take().expect("piped"), sender);
        let mut broker = Mosquitto {
            child,
            log,
            version: String::new(),
            settings: told(settings),
            socket: configuration::socket(&spec.rendezvous, spec.index),
            secrets: None,
        };
        broker.version = broker.wait_running(&versions)?;
        // It says so before its main loop begins, and a SIGTERM until then is lost.
        broker
            .serve_one(spec, options)
            .map_err(system("waiting until mosquitto answers a client"))?;
        broker.secrets = secrets.filter(|_| spec.connects_to().next().is_some());
        Ok(broker)
    }

    fn wait_running(&self, versions: &Receiver<String>) -> Result<String, BrokerError> {
        versions.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => BrokerError::Silent { log: self.log.end() },
            RecvTimeoutError::Disconnected => BrokerError::Ended { log: self.log.end() },
        })
    }

    fn serve_one(&self, spec: &ServiceSpec, options: &Options) -> io::Result<()> {
        if options.text("transport") == "unix" {
            let stream = UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return greet(stream, spec.security.is_some());
        }
        let stream = TcpStream::connect((spec.address(), configuration::port(&spec.rendezvous, spec.index)))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        match &spec.security {
            None => greet(stream, false),
            Some(security) if security.level == SecurityLevel::Encrypted => {
                greet(encrypted(stream, spec.address(), security)?, false)
            }
            Some(_) => greet(stream, true),
        }
    }

    fn end(&mut self) -> Result<(), BrokerError> {
        // SAFETY: the child is not reaped before `wait`, so its id is still its own.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGTERM) };
        let status = self.child.wait().map_err(system("waiting for mosquitto's end"))?;
        let _ = fs::remove_file(&self.socket);
        drop(self.secrets.take());
        if status.success() {
            return Ok(());
        }
        Err(BrokerError::Unclean {
            status: status.to_string(),
            log: self.log.end(),
        })
    }
}

impl Service for Mosquitto {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn settings(&self) -> BTreeMap<String, String> {
        self.settings.clone()
    }

    fn child(&self) -> Option<u32> {
        Some(self.child.id())
    }

    fn check(&mut self) -> Result<(), MiddlewareError> {
        match self.child.try_wait().map_err(system("looking after mosquitto"))? {
            None => Ok(()),
            Some(_) => Err(BrokerError::Ended { log: self.log.end() }.into()),
        }
    }

    /// A broker that does not end is killed with this process, which the runtime ends at last.
    fn stop(mut self: Box<Self>) -> Result<(), MiddlewareError> {
        Ok(self.end()?)
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Its settings as it is told them, those that stand more than once together; without passwords.
fn told(settings: Vec<Line>) -> BTreeMap<String, String> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in settings {
        let value = if name == BRIDGE_PASSWORD {
            "drawn for this trial".into()
        } else {
            value
        };
        told.entry(name.to_owned()).or_default().push(value);
    }
    told.into_iter()
        .map(|(name, values)| (name, values.join("; ")))
        .collect()
}

fn spawn(program: &Path, file: &Path) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .arg("-c")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe and allocate nothing.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have died before the signal was asked for.
            if libc::getppid() != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
    command.spawn()
}

#[cfg(test)]
mod tests;
