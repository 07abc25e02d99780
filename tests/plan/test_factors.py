"""Candidates of one setting differ in middleware, profile, options and side; all else is the setting."""

from middlemark.plan import on_both_sides, varying_factors
from middlemark.plan.factors import experiment_id, fixed_factors, setting_factors
from planned_experiments import experiments, suite

WITH_OPTION = {"middleware": "zenoh", "options": {"express": [True, False]}}


def test_candidates_share_their_setting() -> None:
    given = experiments(suite(middlewares=["udp", WITH_OPTION], profiles=["default", "tuned"]))
    candidates = on_both_sides(given)
    assert len(candidates) == 12
    (setting,) = {setting_factors(experiment) for experiment in candidates}
    assert {"workload", "topology", "reliability"} < dict(setting).keys()


def test_what_is_sent_and_where_make_another_setting() -> None:
    given = experiments(suite(middlewares="udp", sizes=["1 kB", "2 kB"], topologies=["C1-1", "C1-2"]))
    assert len({setting_factors(experiment) for experiment in given}) == len(given) == 4


def test_options_agree_where_neither_middleware_nor_profile_is_varied() -> None:
    given = experiments(suite(middlewares=["udp", WITH_OPTION], sizes=["1 kB", "2 kB"]))
    assert len({fixed_factors(experiment, {"middleware"}) for experiment in given}) == 2
    assert len({fixed_factors(experiment, {"size"}) for experiment in given}) == 3


def test_the_factors_that_tell_experiments_apart() -> None:
    assert varying_factors(experiments(suite(middlewares="all", sizes=["1 kB", "2 kB"]))) == ("middleware", "size")
    assert varying_factors(experiments(suite())) == ("middleware",)


def test_an_experiment_is_named_alike_in_whatever_order_its_factors_are() -> None:
    factors = {"middleware": "udp", "workload": "imu", "topology": "C1-1", "size": "44 B"}
    assert experiment_id(factors) == experiment_id(dict(reversed(factors.items())))
    assert experiment_id(factors) != experiment_id(factors | {"size": "1 kB"})
