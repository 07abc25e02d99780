"""What a point of the matrix resolves to: windows, history, roles, faults, from the nearest who says it."""

from middlemark.plan import ClosedRequests, KeepAll, KeepLast, OpenRequests, PingPong, Requests
from planned_experiments import experiments, suite


def test_what_stands_nearer_to_the_workload_wins() -> None:
    [near, far] = experiments(
        suite(
            workloads=[{"workload": "imu", "size": "2 kB", "qos": {"durability": "transient_local"}}, "radar"],
            sizes="64 B",
            qos={"reliability": "reliable"},
            windows={"window": "1 s", "drain": "100 ms"},
        )
    )
    assert (near.factors["size"], near.factors["reliability"]) == ("2 kB", "best_effort")
    assert near.factors["durability"] == "transient_local"
    assert (far.factors["size"], far.factors["reliability"]) == ("64 B", "reliable")


def test_a_workload_changes_only_the_windows_that_it_names() -> None:
    [own, shared] = experiments(
        suite(
            workloads=[{"workload": "imu", "windows": {"window": "3 s"}}, "radar"],
            windows={"window": "1 s", "drain": "100 ms"},
        )
    )
    assert (own.windows.window_ns, own.windows.drain_ns) == (3_000_000_000, 100_000_000)
    assert (shared.windows.window_ns, shared.windows.drain_ns) == (1_000_000_000, 100_000_000)


def test_late_is_what_comes_after_the_drain_unless_the_suite_says_otherwise() -> None:
    [experiment] = experiments(suite())
    assert experiment.windows.late_after_ns == experiment.windows.drain_ns
    [experiment] = experiments(suite(recording={"late_after": "50 ms"}))
    assert experiment.windows.late_after_ns == 50_000_000


def test_history_is_given_in_the_words_of_the_contract() -> None:
    last, keep_all = experiments(suite(qos=[{"depth": 4}, {"history": "keep_all"}]))
    assert last.streams[0].qos.history == KeepLast(depth=4)
    assert keep_all.streams[0].qos.history == KeepAll()
    assert "depth" not in keep_all.factors


def test_an_answer_is_as_large_as_its_message_unless_the_suite_says_otherwise() -> None:
    same, small = experiments(
        suite(workloads=[{"workload": "ping_pong", "size": "1 kB"}, {"workload": "ping_pong", "answer": "32 B"}])
    )
    answers = [e.streams[0].pattern.answer_bytes for e in (same, small) if isinstance(e.streams[0].pattern, PingPong)]
    assert answers == [1000, 32]


def test_each_role_of_a_topology_is_an_application_of_its_own() -> None:
    [experiment] = experiments(suite(topologies="C3-1"))
    [stream] = experiment.streams
    assert stream.publishers == ("publisher_0", "publisher_1", "publisher_2")
    assert stream.subscribers == ("subscriber_0",)
    assert [len(application.endpoints) for application in experiment.applications] == [1, 1, 1, 1]
    assert [e.index for a in experiment.applications for e in a.endpoints] == [0, 1, 2, 0]


def test_same_process_puts_all_roles_into_one_application() -> None:
    [experiment] = experiments(suite(topologies={"topology": "C2-2", "placement": "same_process"}))
    [application] = experiment.applications
    assert [(e.role.value, e.index) for e in application.endpoints] == [
        ("publisher", 0),
        ("publisher", 1),
        ("subscriber", 0),
        ("subscriber", 1),
    ]
    assert experiment.streams[0].publishers == (application.name, application.name)


def test_accounting_is_reserved_for_every_message_of_the_window() -> None:
    texts = [
        {"workload": "imu"},
        {"workload": "burst"},
        {"workload": "unthrottled", "messages": 5000},
        {"workload": "ping_pong", "interval": "10 ms"},
    ]
    found = experiments(suite(workloads=texts, windows={"window": "2 s"}))
    assert [e.most_messages() for e in found] == [401, 100 * 21, 5000, 201]


def test_requests_are_an_open_loop_at_a_rate_and_a_closed_one_without() -> None:
    asks = {"workload": "s", "pattern": "request_response", "size": "64 B"}
    at_rate, closed = experiments(suite(workloads=[{**asks, "rate": "50 Hz"}, {**asks, "outstanding": 4}]))
    patterns = [experiment.streams[0].pattern for experiment in (at_rate, closed)]
    assert [type(pattern) for pattern in patterns] == [OpenRequests, ClosedRequests]
    assert [pattern.outstanding for pattern in patterns if isinstance(pattern, Requests)] == [64, 4]
    assert (at_rate.factors["arrival"], at_rate.factors["rate"]) == ("fixed", "50 Hz")
    assert "arrival" not in closed.factors


def test_the_last_request_of_a_window_has_its_whole_timeout() -> None:
    asks = {"workload": "s", "pattern": "request_response", "size": "64 B", "timeout": "3 s"}
    (found,) = experiments(suite(workloads=asks, windows={"drain": "100 ms"}))
    assert (found.windows.drain_ns, found.windows.late_after_ns) == (3_000_000_000, 3_000_000_000)


def test_a_workload_may_bring_what_goes_wrong_and_the_windows_for_it() -> None:
    found = experiments(suite(workloads=["imu", "rejoin"], topologies="D1-1"))
    assert [e.factors.get("faults") for e in found] == [None, "rejoin"]
    assert [[event.action for event in e.timeline] for e in found] == [[], ["kill", "restart"]]
    assert [e.windows.window_ns for e in found] == [2_000_000_000, 6_000_000_000]


def test_faults_of_a_condition_and_windows_of_a_suite_override_a_workloads() -> None:
    parts = {"topologies": "D1-1", "conditions": {"faults": "pause"}, "windows": {"window": "4 s"}}
    (found,) = experiments(suite(workloads="rejoin", **parts))
    assert found.factors["faults"] == "pause"
    assert (found.windows.window_ns, found.windows.drain_ns) == (4_000_000_000, 2_000_000_000)
    (longer,) = experiments(suite(workloads={"workload": "rejoin", "windows": {"window": "5 s"}}, **parts))
    assert longer.windows.window_ns == 5_000_000_000


def test_any_workload_may_be_given_faults() -> None:
    struck = {"timeline": "struck", "events": [{"after": 3, "do": "kill", "of": "publisher_0"}]}
    (found,) = experiments(suite(workloads={"workload": "imu", "faults": struck}))
    assert found.factors["faults"] == "struck"
    assert [(event.at_ns, event.target) for event in found.timeline] == [(15_000_000, "publisher_0")]


def test_a_middleware_may_have_qos_of_its_own() -> None:
    own = {"middleware": "zenoh", "qos": [{"reliability": "reliable"}, {"congestion": "block"}]}
    found = experiments(suite(middlewares=["udp", own], qos={"depth": 3}))
    asked = [[e.factors.get(name) for name in ("reliability", "history", "depth", "congestion")] for e in found]
    assert asked == [
        ["best_effort", "keep_last", "3", "drop"],
        ["reliable", "keep_all", None, "block"],
        ["best_effort", "keep_all", None, "block"],
    ]
