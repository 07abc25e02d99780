"""Experiments of a suite that a test writes in one line."""

import json

from middlemark.plan import Experiment, expand
from middlemark.suite import parse_suite

BUILT = ["shm", "udp", "zenoh"]


def experiments(text: str, available: list[str] = BUILT) -> tuple[Experiment, ...]:
    return expand(parse_suite(text, file="mine.yaml"), available=available)


def suite(**parts: object) -> str:
    return json.dumps({"suite": "mine", "middlewares": "udp", "workloads": "imu"} | parts)
