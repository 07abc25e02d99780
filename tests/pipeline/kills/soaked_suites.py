"""The suites of a soak: all that a campaign can be made of, in campaigns of a few short trials each."""

import shutil
from collections.abc import Iterator

from middlemark.worker import executables

SUITE = """
suite: soak_{name}
trials: 2
middlewares: {middlewares}
workloads: [{{workload: imu, rate: 100 Hz}}]
{observe}
topologies: [{topology}]
conditions: [{conditions}]
windows: {{first_message: 30 s, warm_up: 50 ms, window: 300 ms, drain: 200 ms}}
disturbance: {{steal: 100 %, repeats: 0}}
"""
SHAPED = "{topology: D1-1, link: {delay: 1 ms}, hosts: [{name: host_0, cpu_quota: 50 %}]}"
TWO_MACHINES = """{{topology: two_machines, hosts: [{{name: here, kind: local}}, {{name: there, kind: ssh, ssh: "{target}"}}],
applications: [{{name: publisher_0, host: here, roles: [publisher]}}, {{name: subscriber_0, host: there, roles: [subscriber]}}]}}"""


def suites(target: str | None) -> Iterator[str]:
    """What a campaign can be made of, in campaigns of a few trials each."""

    def of(name: str, middlewares: str, topology: str, conditions: str = "{}", observe: str = "") -> str:
        return SUITE.format(
            name=name,
            middlewares=middlewares,
            topology=topology,
            conditions=conditions,
            observe=f"observe: {observe}" if observe else "",
        )

    there = executables.workers()
    yield of("shaped", "udp", SHAPED, "{cpu_load: 10 %, keep_awake: true}", "resources")
    yield of("local", "[udp, tcp, uds]", "C1-1", observe="capture")
    if "mqtt" in there and shutil.which("mosquitto"):
        yield of("brokered", "mqtt", "brokered-1", observe="wire")
    if shutil.which("podman"):
        yield of("contained", "udp", "C1-1", "{deployment: single_container}, {deployment: multi_container}")
    if target is not None:
        yield of("apart", "udp", TWO_MACHINES.format(target=target), observe="resources")
