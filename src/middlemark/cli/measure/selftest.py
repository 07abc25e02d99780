"""`middlemark selftest`: compares a middleware with itself, and counts how often a false difference is found.

One long campaign holds all trials; `analysis.compare.selftest` divides them into campaigns of base and head, and
compares these.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.boundary import say
from middlemark.cli.measure.fleet import FleetAddress, TlsAuthority, TlsCertificate, TlsKey, fleet_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.compare.selftest import ChanceRate
    from middlemark.campaign.fleet.blocks import Connect


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    middleware: Annotated[
        str,
        typer.Argument(
            metavar="MIDDLEWARE",
            help="The middleware that is compared with itself.",
            autocompletion=arguments.middlewares,
        ),
    ] = "udp",
    campaigns: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many campaigns of the middleware against itself.")
    ] = 40,
    blocks: Annotated[int, typer.Option(metavar="N", min=2, help="How many blocks each campaign has.")] = 5,
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Use the trials of this run in place of running new ones."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder, in place of runs/selftest-<time>.")
    ] = None,
    fleet: FleetAddress = None,
    tls_ca_file: TlsAuthority = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Check that comparing a middleware with itself finds a difference in at most 5 % of cases."""
    connect = fleet_at(fleet, (tls_ca_file, tls_cert, tls_key))
    folder = stored or _run(middleware, 2 * campaigns * blocks, out, as_json, connect)
    rates = _rates(folder, blocks)
    if as_json:
        from middlemark.report.output.selftest import selftest_data

        say(json.dumps({"run": str(folder), "blocks": blocks, "figures": selftest_data(rates)}, indent=2))
    else:
        from middlemark.report.elements.plain_text import Screen
        from middlemark.report.output.selftest import print_selftest

        print_selftest(rates, blocks, Screen())
        say(f"run: {folder}")
    _check(rates)


def _run(middleware: str, trials: int, out: Path | None, as_json: bool, connect: "Connect | None") -> Path:
    from middlemark.campaign.order import order_suite
    from middlemark.cli.measure.run import carry_out, new_folder
    from middlemark.suite import load_suite

    path = out or new_folder("selftest")
    carry_out(path, order_suite(load_suite("selftest"), [f"middleware={middleware}"], trials), as_json, connect)
    return path


def _rates(folder: Path, blocks: int) -> "tuple[ChanceRate, ...]":
    from middlemark.analysis.compare.selftest import chance_rates
    from middlemark.errors import UsageError
    from middlemark.suite.metrics import usual_metrics

    findings = arguments.analysed(folder)
    rates = chance_rates(findings.experiments, usual_metrics(), blocks, findings.manifest.seed)
    if not rates:
        raise UsageError(
            f"no experiment of {folder} has the {2 * blocks} valid trials that one campaign needs",
            remedy="give fewer `--blocks`, or a run with more trials",
        )
    return rates


def _check(rates: "Sequence[ChanceRate]") -> None:
    from middlemark.errors import ResultsNotAccepted

    broken = [f"{rate.stream or 'trial'} {rate.metric}" for rate in rates if not rate.holds]
    if broken:
        raise ResultsNotAccepted(
            f"too many false differences: {', '.join(broken)}",
            remedy="check the machine with `middlemark doctor`; then use more blocks per campaign",
        )
