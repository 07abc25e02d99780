//! The user of the operating system that this process runs as: what tells a trial's own applications from strangers where
//! a worker keeps those out by the owners and modes of files.
//!
//! It makes and changes no file; each worker sees to its own.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use middlemark_contract::{CredentialsRequest, CredentialsSet, SecretFiles, ServiceCredentials};

/// Its number.
#[must_use]
pub fn id() -> u32 {
    // SAFETY: the call takes nothing and can't fail.
    unsafe { libc::geteuid() }
}

/// Its group's number.
#[must_use]
pub fn group() -> u32 {
    // SAFETY: as above.
    unsafe { libc::getegid() }
}

/// The credentials of a trial whose applications show nothing but the user that they run as: no files.
#[must_use]
pub fn credentials(request: &CredentialsRequest) -> CredentialsSet {
    let applications = request.applications.iter();
    let services = request.services.iter();
    CredentialsSet {
        applications: applications
            .map(|each| (each.application.clone(), SecretFiles::default()))
            .collect(),
        services: services
            .map(|each| ServiceCredentials {
                service: each.service.clone(),
                index: each.index,
                files: SecretFiles::default(),
            })
            .collect(),
        stated: BTreeMap::from([(
            "identity".into(),
            "the user of the operating system that the applications run as; root counts as every user".into(),
        )]),
    }
}

/// Whether what is at a path is this user's.
///
/// # Errors
/// Of kind `PermissionDenied` where it is another's; the kernel's own where it can't be told.
pub fn check_own(path: &Path) -> io::Result<()> {
    let owner = fs::symlink_metadata(path)?.uid();
    if owner == id() {
        return Ok(());
    }
    let message = format!(
        "{} is user {owner}'s, and this application runs as {}",
        path.display(),
        id()
    );
    Err(io::Error::new(ErrorKind::PermissionDenied, message))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use super::*;

    #[test]
    fn what_belongs_to_another_user_is_not_ones_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(check_own(&path).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&path, "").unwrap();
        check_own(&path).unwrap();
        // Only root can give a file away; who isn't root finds one of root's.
        let others = if id() == 0 {
            chown(&path, Some(65534), None).unwrap();
            path.as_path()
        } else {
            Path::new("/")
        };
        assert_eq!(check_own(others).unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
}
