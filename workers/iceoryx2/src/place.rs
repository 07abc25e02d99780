//! Where iceoryx2 keeps what its processes share: names that begin with the trial's, files in the trial's folder.
//!
//! It makes the configuration and tidies up behind the last process; all else is iceoryx2's own to make and remove.
//!
//! ```text
//! /dev/shm/<name>_<hash>_<number>.dynamic, .data, .connection, …   shared memory of services and ports
//! /dev/shm/<name>_<hash>_node.….global_mgmt                        one for all nodes, which iceoryx2 never removes
//! <folder>/<name>_<number>.event                                   sockets of listeners
//! <folder>/services/<name>_<hash>.service                          one for each service
//! <folder>/nodes/…                                                 one folder for each process
//! ```

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use iceoryx2::prelude::{Config, FileName, Path, SemanticString};
use middlemark_contract::{Refusal, Rendezvous};
use middlemark_runtime::MiddlewareError;

/// The longest path that fits a Unix socket's address.
const SOCKET_PATH_BYTES: usize = 107;

/// What a socket's name has beside folder and prefix: `/`, a number of 128 bits, `.event`.
const SOCKET_NAME_BYTES: usize = 1 + 39 + 6;

/// Whether the trial's folder leaves room for the paths of sockets.
pub(crate) fn accept(rendezvous: &Rendezvous) -> Result<(), Refusal> {
    let folder = rendezvous.folder.display().to_string();
    let path_bytes = folder.len() + prefix(rendezvous).len() + SOCKET_NAME_BYTES;
    if path_bytes <= SOCKET_PATH_BYTES {
        return Ok(());
    }
    Err(Refusal {
        capability: "spec".into(),
        reason: format!(
            "the trial's folder {folder} makes a socket's path of {path_bytes} bytes; there are {SOCKET_PATH_BYTES}"
        ),
    })
}

/// Why iceoryx2 refuses a name or a path: it has these two reasons.
pub(crate) const UNFIT: &str = "it is too long or has characters that iceoryx2 does not allow";

/// iceoryx2's configuration as shipped, but for the place.
pub(crate) fn configuration(rendezvous: &Rendezvous) -> Result<Config, MiddlewareError> {
    let folder = rendezvous.folder.display().to_string();
    let mut config = Config::default();
    config.global.prefix = FileName::new(prefix(rendezvous).as_bytes()).map_err(|_| {
        format!(
            "'{}' can't be a prefix of iceoryx2's file names: {UNFIT}",
            rendezvous.name
        )
    })?;
    let root =
        Path::new(folder.as_bytes()).map_err(|_| format!("'{folder}' can't be iceoryx2's root path: {UNFIT}"))?;
    config.global.set_root_path(&root);
    Ok(config)
}

/// Closes to other users the segment that all nodes of one prefix share, which iceoryx2 lets everybody write.
pub(crate) fn close_to_others(rendezvous: &Rendezvous) -> Result<(), MiddlewareError> {
    for path in shared_between_nodes(&prefix(rendezvous)) {
        fs::set_permissions(&path, Permissions::from_mode(0o600))
            .map_err(|error| format!("{} can't be closed to other users: {error}", path.display()))?;
    }
    Ok(())
}

/// Removes what iceoryx2 keeps between its processes' lives, once the last one of the trial has ended: folders that it
/// left empty, and the segment that all nodes of one prefix share.
pub(crate) fn tidy(rendezvous: &Rendezvous) {
    let _ = fs::remove_dir(rendezvous.folder.join("services"));
    // Fails while another process of the trial still has its node; that one tidies after itself.
    let is_last = fs::remove_dir(rendezvous.folder.join("nodes")).is_ok();
    if is_last {
        shared_between_nodes(&prefix(rendezvous)).for_each(|path| drop(fs::remove_file(path)));
    }
}

fn shared_between_nodes(prefix: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(move |path| {
        path.extension().is_some_and(|extension| extension == "global_mgmt")
            && path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    })
}

fn prefix(rendezvous: &Rendezvous) -> String {
    format!("{}_", rendezvous.name)
}
