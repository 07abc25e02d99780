//! Processes and the processes that these have started, as /proc knows them.
//!
//! The BPF program follows the children that come later; here are those that are there already.

use std::fs;

/// The number of the first namespace of processes, the same on every kernel.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Whether process numbers are here what they are to the kernel.
pub(crate) fn are_numbered_as_by_the_kernel() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() == FIRST_NAMESPACE)
}

/// The process and all that come of it.
pub(crate) fn with_children(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(children(parent));
        next += 1;
    }
    found
}

fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_come_with_their_parents() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let found = with_children(std::process::id());
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(found[0], std::process::id());
        assert!(found.contains(&child.id()));
    }

    #[test]
    fn a_process_that_is_gone_has_no_children() {
        assert_eq!(with_children(u32::MAX), [u32::MAX]);
    }
}
