"""What a paper compares middlewares by is what their workers describe."""

import pytest

from middlemark.campaign.order import available_workers
from middlemark.suite.papers import load_paper, shipped_paper_names

pytestmark = pytest.mark.worker


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
