"""The clock of a remote host is asked for over its connection; what linuxptp says is read as it writes it."""

from middlemark.testbed.clock_offset import Reading, parsed

READING = Reading(monotonic_ns=10, realtime_ns=1000, gap_ns=40)
# As `pmc` of linuxptp 3.1.1 prints it.
ANSWERS = """\
sending: GET CURRENT_DATA_SET
\t7a5c1f.fffe.0b52d1-0 seq 0 RESPONSE MANAGEMENT CURRENT_DATA_SET
\t\tstepsRemoved     1
\t\toffsetFromMaster -132.0
\t\tmeanPathDelay    1350.0
sending: GET PARENT_DATA_SET
\t7a5c1f.fffe.0b52d1-0 seq 1 RESPONSE MANAGEMENT PARENT_DATA_SET
\t\tparentPortIdentity                    9e6c3a.fffe.1146bd-1
\t\tgrandmasterIdentity                   9e6c3a.fffe.1146bd
sending: GET PORT_DATA_SET
\t7a5c1f.fffe.0b52d1-1 seq 2 RESPONSE MANAGEMENT PORT_DATA_SET
\t\tportState               SLAVE
"""


def test_a_locked_clock_is_as_far_off_as_ptp_sees_and_the_reading_took() -> None:
    found = parsed(ANSWERS, READING)
    assert found is not None
    assert (found.grandmaster, found.error_ns) == ("9e6c3a.fffe.1146bd", 132 + 40)


def test_a_clock_that_is_not_locked_counts_as_not_kept() -> None:
    assert parsed(ANSWERS.replace("SLAVE", "UNCALIBRATED"), READING) is None
    assert parsed("", READING) is None
    assert parsed("sending: GET CURRENT_DATA_SET\n", READING) is None
