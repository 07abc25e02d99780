//! Where iceoryx2 keeps what its processes share: names that begin with the trial's, files in a folder of the user's own
//! within the trial's.
//!
//! It makes the configuration and tidies up behind the last process; all else is iceoryx2's own to make and remove.
//!
//! ```text
//! /dev/shm/<name>_<user>_<hash>_<number>.dynamic, .data, .connection, …   shared memory of services and ports
//! /dev/shm/<name>_<user>_<hash>_node.….global_mgmt                        one for all nodes, which iceoryx2 never removes
//! <folder>/<user>/<name>_<user>_<number>.event                            sockets of listeners
//! <folder>/<user>/services/<name>_<user>_<hash>.service                   one for each service
//! <folder>/<user>/nodes/…                                                 one folder for each process
//! ```

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;

use iceoryx2::prelude::{Config, FileName, Path, SemanticString};
use middlemark_contract::{Refusal, Rendezvous};
use middlemark_runtime::{MiddlewareError, user};

/// The longest path that fits a Unix socket's address.
const SOCKET_PATH_BYTES: usize = 107;

/// What a socket's name has beside folder and prefix: `/`, a number of 128 bits, `.event`.
const SOCKET_NAME_BYTES: usize = 1 + 39 + 6;

/// Why iceoryx2 refuses a name or a path: it has these two reasons.
pub(crate) const UNFIT: &str = "it is too long or has characters that iceoryx2 does not allow";

/// The place of one user's processes of a trial: another user's find nothing of theirs in it.
pub(crate) struct Place {
    folder: PathBuf,
    prefix: String,
}

impl Place {
    /// That of this process; nothing of it is made.
    pub(crate) fn of(rendezvous: &Rendezvous) -> Place {
        Place {
            folder: rendezvous.folder.join(user::id().to_string()),
            prefix: format!("{}_{}_", rendezvous.name, user::id()),
        }
    }

    /// Whether the folder leaves room for the paths of sockets.
    pub(crate) fn accept(&self) -> Result<(), Refusal> {
        let folder = self.folder.display();
        let path_bytes = folder.to_string().len() + self.prefix.len() + SOCKET_NAME_BYTES;
        if path_bytes <= SOCKET_PATH_BYTES {
            return Ok(());
        }
        Err(Refusal {
            capability: "spec".into(),
            reason: format!(
                "the folder {folder} makes a socket's path of {path_bytes} bytes; there are {SOCKET_PATH_BYTES}"
            ),
        })
    }

    /// Makes the folder, which nobody else may enter; refuses one that is another user's.
    pub(crate) fn make(&self) -> Result<(), MiddlewareError> {
        let made = DirBuilder::new().mode(0o700).create(&self.folder);
        match made {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(format!("making the folder {}: {error}", self.folder.display()).into())
            }
            _ => Ok(user::check_own(&self.folder)?),
        }
    }

    /// iceoryx2's configuration as shipped, but for the place.
    pub(crate) fn configuration(&self) -> Result<Config, MiddlewareError> {
        let mut config = Config::default();
        config.global.prefix = FileName::new(self.prefix.as_bytes())
            .map_err(|_| format!("'{}' can't be a prefix of iceoryx2's file names: {UNFIT}", self.prefix))?;
        let folder = self.folder.display().to_string();
        let root =
            Path::new(folder.as_bytes()).map_err(|_| format!("'{folder}' can't be iceoryx2's root path: {UNFIT}"))?;
        config.global.set_root_path(&root);
        Ok(config)
    }

    /// Closes to other users the segment that all nodes of one prefix share, which iceoryx2 lets everybody write.
    pub(crate) fn close_to_others(&self) -> Result<(), MiddlewareError> {
        for path in self.shared_between_nodes() {
            fs::set_permissions(&path, Permissions::from_mode(0o600))
                .map_err(|error| format!("{} can't be closed to other users: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Removes what iceoryx2 keeps between its processes' lives, once the last one of the trial has ended: folders that it
    /// left empty, and the segment that all nodes of one prefix share. The folder itself goes with the trial's.
    pub(crate) fn tidy(&self) {
        let _ = fs::remove_dir(self.folder.join("services"));
        // Fails while another process of the trial still has its node; that one tidies after itself.
        let is_last = fs::remove_dir(self.folder.join("nodes")).is_ok();
        if is_last {
            self.shared_between_nodes().for_each(|path| drop(fs::remove_file(path)));
        }
    }

    fn shared_between_nodes(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default();
            path.extension().is_some_and(|extension| extension == "global_mgmt")
                && name.as_encoded_bytes().starts_with(self.prefix.as_bytes())
        })
    }
}
