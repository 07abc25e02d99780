"""Settings in words: what is said of a load, of a condition, and of a setting as a run has stored it."""

from middlemark.report.elements.labels import condition_words, setting_words, stream_beside


def test_a_level_of_security_is_said_beside_the_load() -> None:
    assert [condition_words("security", level) for level in ("encrypted", "none")] == ["encrypted", "without security"]


def test_a_stored_setting_is_said_as_a_load_with_its_conditions() -> None:
    stored = "middleware=udp workload=imu size=1 kB rate=200 Hz reliability=best_effort congestion=drop"
    assert setting_words(stored) == "udp, imu: 1 kB at 200 Hz, best effort, congestion drop"


def test_a_stream_is_named_only_where_its_setting_has_another_name() -> None:
    assert not stream_beside("workload=imu size=1 kB", "imu")
    assert stream_beside("workload=imu_2 size=1 kB", "imu") == "imu"
    assert not stream_beside("workload=imu", None)
