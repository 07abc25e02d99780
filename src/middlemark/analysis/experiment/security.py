"""Whether what was seen of a trial's messages contradicts the level of security that it requests.

Encryption is proved by what captured frames have in clear, never by a setting. Which way messages took is `proof`'s,
which asks here first.
"""

from __future__ import annotations

from middlemark.analysis.experiment.path import stated_paths
from middlemark.results.counts import MessagePath
from middlemark.results.record import CaptureRecord, TrialRecord
from middlemark.suite import Security
from middlemark.suite.yaml.quantity import plural


def unlike_security(record: TrialRecord) -> str:
    """How what applications keep, or captured frames, contradict the requested level; empty where nothing does."""
    return _unlike_level(record) or _unlike_wire(record)


def _unlike_level(record: TrialRecord) -> str:
    """Which applications keep another level than the trial requests; empty where none does."""
    requested = record.trial.experiment.conditions.security
    levels = {name: effective.security for name, effective in record.effective.items()}
    unlike = ", ".join(f"{name} keeps {level}" for name, level in levels.items() if level != requested)
    return f"the trial requests security {requested}, but {unlike}" if unlike else ""


def _unlike_wire(record: TrialRecord) -> str:
    """How captured frames contradict the level of security; empty where they don't, or can't."""
    requested, capture = record.trial.experiment.conditions.security, record.capture
    if capture is None or capture.readable_headers is None:
        return ""
    if requested is Security.ENCRYPTED and capture.readable_headers:
        headers = plural(capture.readable_headers, "header")
        return (
            f"the trial requests security {requested}, but {headers} of its messages can be read in the captured frames"
        )
    if requested is not Security.ENCRYPTED and not capture.readable_headers and _is_wholly_captured(record, capture):
        readable = f"the trial requests security {requested}, under which messages can be read on their way"
        return f"{readable}, but no header of one is in the captured frames"
    return ""


def _is_wholly_captured(record: TrialRecord, capture: CaptureRecord) -> bool:
    """Whether messages passed links by the network alone, of whose frames every byte was kept."""
    if any(link.cut or link.beyond or link.lost for link in capture.links):
        return False
    experiment, hosts = record.trial.experiment, {link.host for link in capture.links}
    host_of = {application.name: application.host for application in experiment.applications}
    streams = {stream.name: stream for stream in experiment.streams}
    passed = [
        {host_of[stream.publishers[counts.publisher]], host_of[stream.subscribers[counts.subscriber]]}
        for counts in record.counts.subscribers
        if counts.received
        for stream in (streams[counts.stream],)
    ]
    return stated_paths(record) == {MessagePath.NETWORK} and any(len(ends) == 2 and ends <= hosts for ends in passed)
