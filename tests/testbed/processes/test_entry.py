"""A line of a ledger is an entry under a name of Middlemark's, or is refused with a reason."""

import json

from hypothesis import given
from hypothesis import strategies as st

from middlemark.testbed.processes.entry import Created, parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["a", "/etc", "host:/", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["op", "mark", "kind", "what", "pid", "start_ticks", "boot_id", "more"])
WORDS = st.sampled_from(
    ["create", "started", "remove", "forget", "folder", "file", "shared_memory", "cgroup", "process"]
)


@given(st.text() | st.dictionaries(FIELDS, VALUES | WORDS).map(json.dumps))
def test_whatever_a_line_says_it_is_an_entry_or_refused(text: str) -> None:
    try:
        line = parsed(text)
    except ValueError:
        return
    if isinstance(line, Created) and line.kind not in {"process", "shared_memory"}:
        assert "mm" in line.what or "middlemark" in line.what or "/dev/shm/" in line.what or "unfinished" in line.what  # noqa: S108


@given(
    st.text(alphabet="/.m01aehostps:-_\0", max_size=40),
    st.sampled_from(["folder", "containers", "cgroup", "remote_folder"]),
)
def test_no_name_leads_out_of_where_it_lies(what: str, kind: str) -> None:
    try:
        parsed(json.dumps({"op": "create", "mark": "a", "kind": kind, "what": what}))
    except ValueError:
        return
    assert ".." not in what.split("/")
    assert "\0" not in what
