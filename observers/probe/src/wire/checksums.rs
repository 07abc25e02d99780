//! How many datagrams this network namespace has discarded for a wrong checksum: the trace that corruption leaves.

use std::fs;

/// Since the namespace was made, over IPv4 and IPv6; what the kernel doesn't tell counts as none.
pub(crate) fn failures() -> u64 {
    let four = fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
    let six = fs::read_to_string("/proc/self/net/snmp6").unwrap_or_default();
    of_table(&four).unwrap_or(0) + of_list(&six).unwrap_or(0)
}

/// `/proc/net/snmp`: a line of names, then a line of values.
fn of_table(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Udp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let position = names.split_whitespace().position(|name| name == "InCsumErrors")?;
    values.split_whitespace().nth(position)?.parse().ok()
}

/// `/proc/net/snmp6`: a name and its value on each line.
fn of_list(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("Udp6InCsumErrors"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_by_its_name() {
        let table = "Tcp: InCsumErrors\nTcp: 9\nUdp: InDatagrams InCsumErrors IgnoredMulti\nUdp: 55 7 0\nUdpLite: x\n";
        assert_eq!(of_table(table), Some(7));
        assert_eq!(of_table("Udp: InDatagrams\nUdp: 55\n"), None);
        assert_eq!(of_list("Udp6InDatagrams 4\nUdp6InCsumErrors\t12\n"), Some(12));
    }
}
