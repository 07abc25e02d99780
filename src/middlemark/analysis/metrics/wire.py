"""The metrics of what a trial put on the wire: bytes and packets by phase, and how many for each byte of payload.

Bytes count where they leave a host, so that a frame counts once for each link that a host sent it into: a message that
goes through a broker counts twice, a multicast to three subscribers once. Pure; `campaign.wire` read the counters.
"""

from __future__ import annotations

from collections.abc import Collection

from middlemark.analysis.metrics.catalog import TRIAL, Key
from middlemark.analysis.stats.quantiles import Measured, Value
from middlemark.plan import Experiment, PingPong
from middlemark.results.record import TrialRecord


def wire_values(record: TrialRecord) -> dict[Key, Value]:
    """By phase all that left the hosts, and of the window its share by message and by byte of payload delivered."""
    values: dict[Key, Value] = {}
    for phase in dict.fromkeys(each.phase for each in record.wire):
        links = [each for each in record.wire if each.phase == phase]
        sent_bytes, packets = sum(each.sent_bytes for each in links), sum(each.sent_packets for each in links)
        values[Key(TRIAL, f"wire_{phase}_bytes")] = Measured(float(sent_bytes), packets)
        values[Key(TRIAL, f"wire_{phase}_packets")] = Measured(float(packets), packets)
    sent_bytes, packets = _of_window(record)
    control = _of_receivers(record)
    if control is not None:
        control_bytes, control_packets = control
        split = {"control": control, "data": (sent_bytes - control_bytes, packets - control_packets)}
        for name, (its_bytes, its_packets) in split.items():
            values[Key(TRIAL, f"wire_{name}_bytes")] = Measured(float(its_bytes), its_packets)
            values[Key(TRIAL, f"wire_{name}_packets")] = Measured(float(its_packets), its_packets)
    payload_bytes, messages = _delivered(record)
    is_known = not record.interrupted  # who ended took along the count of what it had received
    if sent_bytes and payload_bytes and is_known:
        values[Key(TRIAL, "wire_overhead_ratio")] = Measured(sent_bytes / payload_bytes, messages)
        values[Key(TRIAL, "wire_bytes_per_message")] = Measured(sent_bytes / messages, messages)
        values[Key(TRIAL, "wire_packets_per_message")] = Measured(packets / messages, messages)
    return values


def _of_window(record: TrialRecord) -> tuple[int, int]:
    links = [each for each in record.wire if each.phase == "window"]
    return sum(each.sent_bytes for each in links), sum(each.sent_packets for each in links)


def payload_hosts(experiment: Experiment) -> set[str]:
    """The hosts whose own frames carry payload: those of publishers, of who answers, and of services."""
    senders = set(experiment.services or (experiment.applications[0].host,))
    for stream in experiment.streams:
        answering = stream.subscribers if isinstance(stream.pattern, PingPong) else ()
        senders |= _hosts_of(experiment, (*stream.publishers, *answering))
    return senders


def receiving_hosts(experiment: Experiment) -> set[str]:
    """The hosts that payload comes to: those of subscribers, of who is answered, and those that services are given."""
    receivers = set(experiment.services)
    for stream in experiment.streams:
        answered = stream.publishers if isinstance(stream.pattern, PingPong) else ()
        receivers |= _hosts_of(experiment, (*stream.subscribers, *answered))
    return receivers


def _hosts_of(experiment: Experiment, names: Collection[str]) -> set[str]:
    return {application.host for application in experiment.applications if application.name in names}


def _of_receivers(record: TrialRecord) -> tuple[int, int] | None:
    """Bytes and packets that hosts sent within the window that send no payload: acknowledgements and other control.

    None where there is no such host: beside payload, control can't be told apart by counting.
    """
    senders = payload_hosts(record.trial.experiment)
    links = [each for each in record.wire if each.phase == "window" and each.host not in senders]
    return (sum(each.sent_bytes for each in links), sum(each.sent_packets for each in links)) if links else None


def _delivered(record: TrialRecord) -> tuple[float, int]:
    """Payload bytes and messages that arrived, in time or late, over all subscribers, answers with them."""
    streams = {stream.name: stream for stream in record.trial.experiment.streams}
    payload_bytes, messages = 0.0, 0
    for each in record.counts.subscribers:
        stream = streams[each.stream]
        asked = stream.pattern
        size_bytes = asked.answer_bytes if each.answers and isinstance(asked, PingPong) else stream.mean_bytes
        payload_bytes += size_bytes * (each.received + each.late)
        messages += each.received + each.late
    return payload_bytes, messages
