//! Since when the system's packages have a version of a library or program, by what Debian installs with each package.
//!
//! It reads `/usr/share/doc/<package>/changelog.Debian.gz` and nothing else; elsewhere than on Debian it knows nothing.

use std::path::Path;
use std::process::Command;

/// The day of the oldest entry of `version` in the changelog of the first of these packages that is installed; none where
/// there is no such entry, as with a library that isn't the system's.
#[must_use]
pub fn released(packages: &[&str], version: &str) -> Option<String> {
    let changelogs = packages
        .iter()
        .map(|package| format!("/usr/share/doc/{package}/changelog.Debian.gz"));
    let installed = changelogs.into_iter().find(|path| Path::new(path).exists())?;
    let unpacked = Command::new("gzip")
        .args(["--decompress", "--stdout", &installed])
        .output()
        .ok()?;
    oldest_entry(&String::from_utf8_lossy(&unpacked.stdout), version)
}

/// Entries are listed from the newest to the oldest, each begins with a version and ends with its date.
fn oldest_entry(changelog: &str, version: &str) -> Option<String> {
    let mut is_asked = false;
    let mut oldest = None;
    for line in changelog.lines() {
        if let Some(date) = line.strip_prefix(" -- ").filter(|_| is_asked) {
            oldest = day(date);
        } else if !line.starts_with(' ') && !line.is_empty() {
            is_asked = upstream(line) == Some(version);
        }
    }
    oldest
}

/// `2.9.1` of the line `fastdds (2.9.1+ds-1+deb12u2) bookworm; urgency=medium`.
fn upstream(heading: &str) -> Option<&str> {
    let (_, rest) = heading.split_once('(')?;
    let (whole, _) = rest.split_once(')')?;
    let without_epoch = whole.split_once(':').map_or(whole, |(_, rest)| rest);
    without_epoch.split(['-', '+', '~']).next()
}

/// `2023-01-31` of `A Name <address>  Tue, 31 Jan 2023 10:57:13 +0100`.
fn day(signature: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, date) = signature.rsplit_once(", ")?;
    let mut words = date.split_whitespace();
    let day: u8 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    let year: u16 = words.next()?.parse().ok()?;
    Some(format!("{year}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "\
fastdds (2.9.1+ds-1+deb12u1) bookworm-security; urgency=medium

  * Security.

 -- A Name <name@example.org>  Fri, 18 Aug 2023 12:44:49 +0200

fastdds (2.9.1+ds-1) unstable; urgency=medium

  * New upstream version 2.9.1+ds

 -- A Name, Other <name@example.org>  Tue, 31 Jan 2023 10:57:13 +0100

fastdds (2.9.0+ds-2) unstable; urgency=medium

 -- A Name <name@example.org>  Wed, 21 Dec 2022 10:12:23 +0100
";

    #[test]
    fn a_version_is_as_old_as_its_first_entry() {
        assert_eq!(oldest_entry(CHANGELOG, "2.9.1").as_deref(), Some("2023-01-31"));
        assert_eq!(oldest_entry(CHANGELOG, "2.9.0").as_deref(), Some("2022-12-21"));
    }

    #[test]
    fn a_version_that_was_never_packaged_has_no_day() {
        assert_eq!(oldest_entry(CHANGELOG, "2.9"), None);
        assert_eq!(oldest_entry("", "2.9.1"), None);
    }

    #[test]
    fn a_package_that_is_not_installed_tells_nothing() {
        assert_eq!(released(&["a-package-that-there-is-not"], "1"), None);
    }
}
