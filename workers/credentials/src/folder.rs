//! Secret files on disk, for libraries that take no certificate from memory: readable by their owner alone, gone early.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use middlemark_contract::SecretFiles;

/// A folder with the files of one process; both are removed with it.
#[derive(Debug)]
pub struct SecretFolder {
    path: PathBuf,
}

impl SecretFolder {
    /// Writes the files into a new folder `<process>.credentials` below the trial's own. What an earlier process of that
    /// name left, which was killed, is removed first.
    ///
    /// # Errors
    /// What could not be written; nothing is left of it.
    pub fn write(trial: &Path, process: &str, files: &SecretFiles) -> io::Result<SecretFolder> {
        let path = trial.join(format!("{process}.credentials"));
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = SecretFolder { path };
        for (name, text) in &files.0 {
            folder.add(name, text)?;
        }
        Ok(folder)
    }

    /// Adds a file, or fails where there is one by that name.
    ///
    /// # Errors
    /// What could not be written.
    pub fn add(&self, name: &str, text: &str) -> io::Result<()> {
        if Path::new(name).file_name() != Some(name.as_ref()) {
            let message = format!("'{name}' is no name of a file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(self.path.join(name))?.write_all(text.as_bytes())
    }

    /// Where a file lies.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for SecretFolder {
    fn drop(&mut self) {
        // Where this fails, the trial's folder goes with it.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn files() -> SecretFiles {
        SecretFiles::of([("key.pem", "secret".into())])
    }

    #[test]
    fn files_are_their_owners_alone_and_go_with_the_folder() {
        let trial = tempfile::tempdir().unwrap();
        let folder = SecretFolder::write(trial.path(), "publisher_0", &files()).unwrap();
        let path = folder.path("key.pem");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_to_string(&path).unwrap(), "secret");
        drop(folder);
        assert_eq!(fs::read_dir(trial.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_replaced() {
        let trial = tempfile::tempdir().unwrap();
        std::mem::forget(SecretFolder::write(trial.path(), "a", &files()).unwrap());
        let folder = SecretFolder::write(trial.path(), "a", &SecretFiles::of([("other.pem", "new".into())])).unwrap();
        assert!(!folder.path("key.pem").exists());
        assert_eq!(fs::read_to_string(folder.path("other.pem")).unwrap(), "new");
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused_and_nothing_is_left() {
        let trial = tempfile::tempdir().unwrap();
        let files = SecretFiles::of([("../key.pem", "secret".into())]);
        let error = SecretFolder::write(trial.path(), "a", &files).unwrap_err();
        assert_eq!(error.to_string(), "'../key.pem' is no name of a file");
        assert_eq!(fs::read_dir(trial.path()).unwrap().count(), 0);
    }
}
