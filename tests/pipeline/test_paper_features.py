"""What papers say of middlewares, their workers describe; what workers refuse of papers is known before they run."""

import pytest

from middlemark.campaign.reproduction import plan_paper, with_refusals
from middlemark.suite.papers import Extent, load_paper, shipped_paper_names
from middlemark.worker.available import available_workers

pytestmark = pytest.mark.worker
HOUR_NS = 3600 * 10**9


def test_a_workers_description_has_what_a_papers_table_of_features_says_of_it() -> None:
    workers, _ = available_workers()
    features = [each for name in shipped_paper_names() for each in load_paper(name).paper.features]
    known = [each for each in features if each.middleware in workers]
    assert known
    for each in known:
        capabilities = workers[each.middleware].description.capabilities.model_dump(mode="json")
        described = {entry if isinstance(entry, str) else entry["level"] for entry in capabilities[each.capability]}
        assert set(each.has) <= described, each.feature
        assert not set(each.lacks) & described, each.feature


@pytest.mark.parametrize("name", shipped_paper_names())
def test_what_workers_accept_of_a_full_extent_takes_two_hours_at_most(name: str) -> None:
    planned = with_refusals(plan_paper(load_paper(name), Extent.FULL))
    assert planned.duration_ns <= 2 * HOUR_NS


@pytest.mark.skipif("zenoh" not in available_workers()[0], reason="there is no worker for Zenoh")
def test_what_zenoh_refuses_of_its_paper_is_known_before_anything_is_run() -> None:
    planned = with_refusals(plan_paper(load_paper("zenoh-iiot-2025"), Extent.QUICK))
    refused = planned.refused_reasons
    assert refused.keys() == {"congestion"}
    assert [each.n_experiments for each in refused["congestion"]] == [2, 2]
    assert any("over UDP Zenoh sends nothing again" in each.reason for each in refused["congestion"])


@pytest.mark.skipif("vsomeip" not in available_workers()[0], reason="there is no worker for vSomeIP")
def test_what_differs_in_size_alone_is_told_once() -> None:
    planned = with_refusals(plan_paper(load_paper("someip-dds-2018"), Extent.FULL))
    (events,) = (each for each in planned.refused_reasons["external"] if each.middleware == "vsomeip")
    assert (events.reason.partition(":")[0], events.n_experiments) == ("2 KiB to 512 KiB on 'ping_pong'", 9)
    (datagrams,) = (each for each in planned.refused_reasons["external"] if each.middleware == "udp")
    sized = "a message of 64 KiB to 512 KiB is too large"
    assert (datagrams.reason.partition(":")[0], datagrams.n_experiments) == (sized, 4)
    (methods,) = planned.refused_reasons["methods_external"]
    assert (methods.reason.partition(":")[0], methods.n_experiments) == ("4 KiB to 512 KiB on 'method'", 5)
