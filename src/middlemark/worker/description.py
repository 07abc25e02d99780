"""The description of a worker, read once for each state of its file, and what a trial needs by it.

An answer is kept under the user's cache folder by the file's path, size and time of change, so that a campaign starts
without running every worker. A worker of another contract version is refused here, before it is used.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from pydantic import BaseModel, ConfigDict, ValidationError

from middlemark.errors import StoreError, WorkerFailed
from middlemark.installation.user_folders import cache_folder, make_cache_folder
from middlemark.plan import Experiment, Stream
from middlemark.results.files import check_owner, read_bytes, write_model
from middlemark.worker.answers import ask, failed
from middlemark.worker.contract import Delivery, Description, Library, OptionValue, PortHolders, ServiceNeed

CONTRACT_VERSION = 3
DEADLINE_S = 20.0
MOST_BYTES = 4 << 20


class _Version(BaseModel):
    """The one part that every version of the contract has."""

    model_config = ConfigDict(extra="ignore")
    contract_version: int


def describe(worker: Path) -> Description:
    """The worker's description, from the cache where its file has not changed."""
    cached = _cache_file(worker)
    try:
        check_owner(cached.parent)
        return Description.model_validate_json(read_bytes(cached, MOST_BYTES))
    except (OSError, StoreError, ValidationError):
        pass
    description = _parse(_described(worker), worker)
    if not any(service.missing for service in description.services):  # it may be installed before the next question
        _keep(cached, description)
    return description


def describe_usable(worker: Path) -> Description:
    """The same; a service that the middleware needs as shipped and that can't run here is a failure too."""
    description = describe(worker)
    for service in needed_services(description, "default", {}):
        if service.missing:
            raise WorkerFailed(f"{service.service}: {service.missing}", exit_status=None)
    return description


def resolved_options(description: Description, profile: str, options: dict[str, OptionValue]) -> dict[str, OptionValue]:
    """The value of every option: the suite's, else the profile's, else the default."""
    defaults = {option.name: option.default for option in description.options}
    chosen = description.profiles.get(profile)
    return defaults | (chosen.options if chosen else {}) | options


def resolved_delivery(description: Description, profile: str, requested: Delivery | None) -> Delivery:
    """Who calls an application with a message: as requested, else as the profile advises, else as the default."""
    chosen = description.profiles.get(profile)
    return requested or (chosen.delivery if chosen else None) or description.capabilities.deliveries.default


def distinct_profiles(description: Description) -> tuple[str, ...]:
    """The profiles, without those that set the same as one before: what `tuned` is too is measured once."""
    names: list[str] = []
    for name, profile in description.profiles.items():
        chosen = (profile.delivery, profile.options)
        if all(
            chosen != (earlier.delivery, earlier.options) for earlier in map(description.profiles.__getitem__, names)
        ):
            names.append(name)
    return tuple(names)


def needed_services(description: Description, profile: str, options: dict[str, OptionValue]) -> list[ServiceNeed]:
    """The services that the middleware needs under these options."""
    resolved = resolved_options(description, profile, options)
    return [service for service in description.services if is_needed(service, resolved)]


def lacking_security(description: Description, level: str) -> str:
    """Why the worker can't have a trial at this level of security."""
    lacking = description.capabilities.lacking_security or ()
    reasons = [lack.reason for lack in lacking if lack.level == level]
    return reasons[0] if reasons else "its worker says of no way to it"


def counts_by_stream(description: Description) -> bool:
    """Whether the worker takes the messages of each stream: who doesn't say what takes a port is older than that."""
    return description.ports != "endpoints"


def programs_of(description: Description) -> tuple[Path, ...]:
    """The machine's programs that its services execute."""
    return tuple(Path(program) for service in description.services for program in service.programs or ())


def programs_of_services(description: Description) -> tuple[Library, ...]:
    """The system's programs that its services run, with their versions."""
    return tuple(service.library for service in description.services if service.library)


def is_needed(service: ServiceNeed, resolved: dict[str, OptionValue]) -> bool:
    """Whether a service is needed under these options."""
    return all(
        any(
            type(value) is type(resolved.get(when.option)) and value == resolved.get(when.option)
            for value in when.values
        )
        for when in service.when
    )


def _described(worker: Path) -> bytes:
    answer = ask(worker, "describe", within_s=DEADLINE_S, most_bytes=MOST_BYTES)
    if answer.exit_status != 0:
        raise failed(f"{worker} describe failed", answer)
    return answer.output


def _parse(answer: bytes, worker: Path) -> Description:
    try:
        version = _Version.model_validate_json(answer).contract_version
        if version != CONTRACT_VERSION:
            raise WorkerFailed(
                f"{worker} speaks version {version} of the worker contract, middlemark version {CONTRACT_VERSION}: "
                "build both from the same checkout",
                exit_status=0,
            )
        return Description.model_validate_json(answer)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise WorkerFailed(f"{worker} describe did not print a description: {problem}", exit_status=0) from error


def _cache_file(worker: Path) -> Path:
    state = worker.stat()
    key = f"{CONTRACT_VERSION}\n{worker.resolve()}\n{state.st_size}\n{state.st_mtime_ns}\n{state.st_ino}"
    return cache_folder() / "descriptions" / (hashlib.sha256(key.encode()).hexdigest() + ".json")


def _keep(cached: Path, description: Description) -> None:
    with suppress(OSError, StoreError):  # without a cache the description is read again next time
        make_cache_folder(cached.parent)
        write_model(cached, description)


def needed_ports(experiment: Experiment, description: Description) -> int:
    """The ports of a trial: those of what takes one, of its services, and one for the trial as a whole."""
    services = needed_services(description, experiment.profile, dict(experiment.options))
    return _held(experiment, description.ports or "endpoints") + len(services) * len(experiment.hosts) + 1


def _held(experiment: Experiment, holders: PortHolders) -> int:
    match holders:
        case "nothing":
            return 0
        case "applications":
            return len(experiment.applications)
        case "publishers":
            return sum(_publishers(stream) for stream in experiment.streams)
        case "subscribers":
            return sum(_subscribers(stream) for stream in experiment.streams)
        case "endpoints":
            return sum(_publishers(stream) + _subscribers(stream) for stream in experiment.streams)
        case _:
            assert_never(holders)


def _publishers(stream: Stream) -> int:
    """Who answers publishes too."""
    return len(stream.publishers) + len(stream.subscribers) * stream.pattern.has_answers


def _subscribers(stream: Stream) -> int:
    """Who waits for answers subscribes to them."""
    return len(stream.subscribers) + len(stream.publishers) * stream.pattern.has_answers
