"""Which watch carries out which observation.

The watches themselves are modules of their own; `trial` starts the one that its trial asks for.
"""

from __future__ import annotations

from middlemark.campaign.capture import CaptureWatch
from middlemark.campaign.kernel_path import KernelPathWatch
from middlemark.campaign.place import Setting
from middlemark.campaign.resources import ResourceWatch
from middlemark.campaign.running import Running
from middlemark.campaign.watching import Kind, Watch
from middlemark.campaign.wire import WireWatch
from middlemark.plan import Trial
from middlemark.suite import Observation
from middlemark.testbed.ledger import Ledger

_KINDS: dict[Observation, Kind] = {
    Observation.CAPTURE: CaptureWatch,
    Observation.KERNEL_PATH: KernelPathWatch,
    Observation.RESOURCES: ResourceWatch,
    Observation.WIRE: WireWatch,
}


def watch_of(trial: Trial, running: Running, setting: Setting, ledger: Ledger) -> Watch:
    """The trial's watch, which has not begun."""
    kind = Watch if trial.observation is None else _KINDS[trial.observation]
    return kind(running, setting, ledger)
