use super::*;

/// As the kernel of a little-endian machine writes it.
const TABLE: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth1\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0
eth2\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";

#[test]
#[cfg(target_endian = "little")]
fn a_default_or_a_multicast_route_will_do_on_the_interface_itself() {
    assert!(has_route(TABLE, "eth0", DISCOVERY_ADDRESS));
    assert!(has_route(TABLE, "eth1", DISCOVERY_ADDRESS));
    assert!(!has_route(TABLE, "eth2", DISCOVERY_ADDRESS));
    assert!(!has_route(TABLE, "lo", DISCOVERY_ADDRESS));
}
