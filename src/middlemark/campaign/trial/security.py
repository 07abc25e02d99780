"""The security of one trial: whether its worker has the level, its credentials, and which process gets which.

It opens no credential; `worker.answers` has them made, the specs carry them to the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.spec import Specs
from middlemark.errors import WorkerFailed
from middlemark.plan import Failed, NotApplicable, Trial
from middlemark.suite import Security
from middlemark.worker import contract
from middlemark.worker.answers import made_credentials, without_secrets
from middlemark.worker.contract import ApplicationSpec, Description, SecurityLevel, ServiceSpec
from middlemark.worker.description import CONTRACT_VERSION, lacking_security

_LEVELS: Mapping[Security, SecurityLevel] = {
    Security.AUTHENTICATED: "authenticated",
    Security.ENCRYPTED: "encrypted",
}
"""Without security a worker is told of none."""
_MAKER, _DOING = "credentials", "making credentials"


def check_security(trial: Trial, description: Description) -> None:
    """Over where a trial would be open to all in place of the level of security that it requests."""
    level = _LEVELS.get(trial.experiment.conditions.security)
    if level and level not in {security.level for security in description.capabilities.security}:
        raise _not_applicable(f"it can't be {level}: {lacking_security(description, level)}")


def secured(trial: Trial, specs: Specs, environment: TrialEnvironment) -> Specs:
    """The same specs with the credentials of each process, made anew; as they are where the trial is open to all."""
    level = _LEVELS.get(trial.experiment.conditions.security)
    return specs if level is None else _with_credentials(specs, level, _made(level, specs, environment))


def stored_specs(specs: Specs) -> dict[str, BaseModel]:
    """The spec of each process as it is kept: without its secrets."""
    services = {name: _stored(spec) for name, spec in specs.services.items()}
    return services | {name: _stored(spec) for name, spec in specs.applications.items()}


def _stored(spec: ServiceSpec | ApplicationSpec) -> BaseModel:
    if spec.security is None:
        return spec
    return spec.model_copy(update={"security": without_secrets(spec.security)})


def _made(level: SecurityLevel, specs: Specs, environment: TrialEnvironment) -> contract.CredentialsMade:
    try:
        event = made_credentials(environment.workers.publishers.path, _request(level, specs, environment))
    except WorkerFailed as failure:
        raise TrialOver(Failed(application=_MAKER, doing=_DOING, causes=(failure.text,))) from failure
    match event:
        case contract.CredentialsRefused():
            raise _not_applicable(event.reason)
        case contract.CredentialsFailed():
            raise TrialOver(Failed(application=_MAKER, doing=event.doing, causes=tuple(event.causes)))
        case contract.CredentialsMade():
            return event


def _request(level: SecurityLevel, specs: Specs, environment: TrialEnvironment) -> contract.CredentialsRequest:
    first = next(iter(specs.applications.values()))

    def addresses(process: str) -> list[str]:
        return list(environment.hosts[specs.host_of[process]].addresses.values())

    return contract.CredentialsRequest(
        contract_version=CONTRACT_VERSION,
        level=level,
        rendezvous=first.rendezvous,
        profile=first.profile,
        options=first.options,
        streams=first.streams,
        applications=[
            contract.SecuredApplication(application=name, addresses=addresses(name), endpoints=spec.endpoints)
            for name, spec in specs.applications.items()
        ],
        services=[
            contract.SecuredService(service=spec.service, index=spec.index, addresses=addresses(name))
            for name, spec in specs.services.items()
        ],
    )


def _with_credentials(specs: Specs, level: SecurityLevel, made: contract.CredentialsMade) -> Specs:
    of_service = {(service.service, service.index): service.files for service in made.services}
    lacking = [*(specs.applications.keys() - made.applications.keys())]
    lacking += [name for name, spec in specs.services.items() if (spec.service, spec.index) not in of_service]
    _check_complete(lacking)

    def security(files: Mapping[str, str]) -> dict[str, contract.Security]:
        return {"security": contract.Security(level=level, files=dict(files))}

    return replace(
        specs,
        applications={
            name: spec.model_copy(update=security(made.applications[name])) for name, spec in specs.applications.items()
        },
        services={
            name: spec.model_copy(update=security(of_service[spec.service, spec.index]))
            for name, spec in specs.services.items()
        },
        credentials=made.stated,
    )


def _check_complete(lacking: Iterable[str]) -> None:
    if names := ", ".join(sorted(lacking)):
        raise TrialOver(Failed(application=_MAKER, doing=_DOING, causes=(f"the worker made none for {names}",)))


def _not_applicable(reason: str) -> TrialOver:
    return TrialOver(NotApplicable(capability="security", reason=reason))
