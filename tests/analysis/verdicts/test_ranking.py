"""Rankings whose answer is known, and tables of equals in which nobody may be behind in more than one of twenty."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.verdicts.judge import Setbacks
from middlemark.analysis.verdicts.ranking import Candidate, holm, ranking
from middlemark.analysis.verdicts.values import BlockValues


def candidate(*values: float, setbacks: Setbacks | None = None) -> Candidate:
    known = BlockValues(dict(enumerate(values)))
    return Candidate(known, float(np.median(values)), setbacks or Setbacks(len(values)))


def test_ranks_are_intervals_and_lines_follow_the_values() -> None:
    places = ranking(
        {
            "c": candidate(30.0, 30.3, 29.9),
            "a": candidate(10.0, 10.1, 9.9),
            "b": candidate(10.3, 10.1, 9.9),
        },
        lower_is_better=True,
    )
    assert [(place.key, place.text) for place in places] == [("a", "1–2"), ("b", "1–2"), ("c", "3")]
    assert set(places[2].behind) == {"a", "b"}
    assert places[0].tied_with == ("b",)


def test_more_is_better_where_it_is_said_so() -> None:
    places = ranking({"a": candidate(10.0, 10.1, 10.2), "b": candidate(50.0, 50.6, 50.2)}, lower_is_better=False)
    assert [(place.key, place.text) for place in places] == [("b", "1"), ("a", "2")]


def test_a_difference_within_the_margin_ranks_nobody() -> None:
    """Surely 2.5 % slower: what a comparison calls no difference is none in a ranking."""
    drift = np.exp(np.arange(6))
    places = ranking(
        {"a": candidate(*drift), "b": candidate(*(1.025 * drift * (1 + np.arange(6) / 1e4)))}, lower_is_better=True
    )
    assert [place.text for place in places] == ["1–2", "1–2"]


def test_with_two_blocks_nobody_is_ahead() -> None:
    places = ranking({"a": candidate(1.0, 1.0), "b": candidate(9.0, 9.0)}, lower_is_better=True)
    assert [(place.first, place.last) for place in places] == [(1, 2), (1, 2)]


def test_who_could_not_keep_up_is_not_ahead_by_the_trials_that_are_left() -> None:
    flattered = candidate(1.0, 1.01, 1.02, setbacks=Setbacks(4, {"overloaded": 1}))
    places = ranking({"a": flattered, "b": candidate(9.0, 9.1, 9.2, 9.3)}, lower_is_better=True)
    assert [place.text for place in places] == ["1–2", "1–2"]


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=3), st.lists(st.floats(1.0, 1e6), min_size=3, max_size=8), min_size=1, max_size=6
    )
)
def test_ranks_agree_with_each_other(trials: dict[str, list[float]]) -> None:
    candidates = {name: candidate(*each) for name, each in trials.items()}
    places = {place.key: place for place in ranking(candidates, lower_is_better=True)}
    assert min(place.first for place in places.values()) == 1
    assert max(place.last for place in places.values()) == len(places)
    for name, place in places.items():
        assert place.first <= place.last
        assert place.first == 1 + len(place.behind)
        assert all(name in places[other].tied_with for other in place.tied_with)
    values = [candidates[name].value for name in places]
    assert values == sorted(values)


def test_holm_is_stricter_the_more_there_are() -> None:
    assert holm({"a": 0.01, "b": 0.02, "c": 0.9}) == {"a", "b"}
    assert holm({"a": 0.02, "b": 0.03, "c": 0.9}) == set()
    assert holm({}) == set()


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize(("n", "blocks"), [(2, 3), (2, 10), (5, 5), (10, 3), (10, 10)])
def test_of_equals_somebody_is_behind_in_at_most_one_table_of_twenty(n: int, blocks: int, *, heavy: bool) -> None:
    rng = np.random.default_rng([n, blocks, heavy])
    times, wrong = 300, 0
    for _ in range(times):
        noise = rng.standard_t(3, (n, blocks)) if heavy else rng.normal(size=(n, blocks))
        values = 100 * np.exp(rng.normal(0, 0.3, blocks) + 0.05 * noise)
        places = ranking({each: candidate(*own) for each, own in enumerate(values)}, lower_is_better=True, margin=0.0)
        wrong += any(place.behind for place in places)
    assert wrong / times <= 0.05 + 3 * (0.05 * 0.95 / times) ** 0.5


def test_a_winner_is_found_where_the_pairs_alone_would_not_tell() -> None:
    """Ten candidates of which one is 15 % ahead: it is named first more often than by all pairs together."""
    rng = np.random.default_rng(3)
    found, pairs = 0, 0
    for _ in range(100):
        values = 100 * np.exp(0.05 * rng.normal(size=(10, 6)))
        values[0] *= 0.85
        places = ranking({each: candidate(*own) for each, own in enumerate(values)}, lower_is_better=True)
        found += places[0].key == 0 and places[0].last == 1
        p_values = {n: float(scipy.stats.ttest_rel(np.log(values[n]), np.log(values[0])).pvalue) for n in range(1, 10)}
        pairs += max(p_values.values()) < 0.05 / 45
    assert found > pairs


def test_equals_that_are_overloaded_by_chance_are_behind_in_hardly_any_table() -> None:
    """Twenty trials each, a fifth overloaded: tested pair by pair, somebody was behind in four of ten tables."""
    rng, n_blocks, n_tables = np.random.default_rng(7), 20, 60
    errors = 0
    for _ in range(n_tables):
        candidates = {}
        for name in range(10):
            values = np.exp(0.05 * rng.normal(size=n_blocks))[rng.random(n_blocks) >= 0.2]
            setbacks = Setbacks(n_blocks, {"overloaded": n_blocks - len(values)})
            candidates[name] = candidate(*values, setbacks=setbacks)
        errors += any(rank.behind for rank in ranking(candidates, lower_is_better=True))
    assert scipy.stats.binomtest(errors, n_tables, 0.05, alternative="greater").pvalue > 0.001
