"""Checks what is locked against the databases of known vulnerabilities: crates by cargo-deny, packages by pip-audit.

Where a database can't be reached and no earlier copy of it is here, it says so, and when there last was one
(`checked.json`, which `--record` writes after a check). A finding ends it with 1; a missing database doesn't.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import python_advisories

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("checked.json")
MOST_SECONDS = 120


@dataclass(frozen=True)
class Checked:
    """What a check came to; `database` is the day of the database, None where there was none."""

    database: str | None
    found: bool
    said: str


def check_crates() -> Checked:
    fetched = run("cargo", "deny", "--locked", "fetch", "db")
    day = day_of_rust_database()
    if day is None:
        return Checked(None, found=False, said=reason(fetched))
    checked = run("cargo", "deny", "--locked", "--offline", "check", "advisories")
    return Checked(day, found=checked.returncode != 0, said=checked.stderr.strip())


def day_of_rust_database() -> str | None:
    """The day of the newest copy that cargo-deny keeps."""
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    copies = [run("git", "-C", str(copy), "log", "-1", "--format=%cs") for copy in home.glob("advisory-dbs/*/")]
    return max((copy.stdout.strip() for copy in copies if copy.returncode == 0), default=None)


def check_packages() -> Checked:
    checked = run("pip-audit", "--strict", "--disable-pip", "--progress-spinner=off", "-r", str(LOCKED["packages"]))
    if checked.returncode != 0 and not checked.stdout.strip():
        return check_packages_by_copy(f"pip-audit's service does not answer for all of them: {reason(checked)}")
    return Checked(today(), found=checked.returncode != 0, said=checked.stdout.strip())


def check_packages_by_copy(why: str) -> Checked:
    """By a clone of the database, brought up to date where that can be; `why` there is no newer one."""
    copy = python_advisories.copy_path()
    if copy.is_dir():
        run("git", "-C", str(copy), "pull", "--quiet", "--ff-only")
    else:
        run("git", "clone", "--quiet", "--depth=1", python_advisories.SOURCE, str(copy))
    day = run("git", "-C", str(copy), "log", "-1", "--format=%cs")
    if day.returncode != 0:
        return Checked(None, found=False, said=why)
    found = python_advisories.vulnerabilities(copy, LOCKED["packages"])
    return Checked(day.stdout.strip(), found=bool(found), said="\n".join(found))


CHECKS: dict[str, Callable[[], Checked]] = {"crates": check_crates, "packages": check_packages}
LOCKED = {"crates": ROOT / "Cargo.lock", "packages": ROOT / "setup/requirements/dev.txt"}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """A command with the programs of this Python environment before all others; what hangs or is missing has failed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PATH": path, "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def reason(process: subprocess.CompletedProcess[str]) -> str:
    """The last line of what it complained of."""
    lines = [line.strip() for line in process.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"{process.args[0]} gave no reason"


def report(what: str, checked: Checked, record: dict[str, dict[str, str]]) -> str:
    if checked.found:
        return f"{checked.said}\n{what}: vulnerable, by the database of {checked.database}; {remedy(what)}"
    if checked.database is not None:
        return f"{what}: no known vulnerability, by the database of {checked.database}"
    return f"{what}: not checked, as there is no database here ({checked.said}); {last_check(what, record)}"


def remedy(what: str) -> str:
    if what == "crates":
        return "run `cargo update -p CRATE`, or give the reason why it can do no harm under [advisories] of deny.toml"
    return "pin a newer version with `make requirements`"


def last_check(what: str, record: dict[str, dict[str, str]]) -> str:
    """When it was checked where there was a database, and whether that still holds."""
    last = record.get(what)
    if last is None:
        return f"{LOCKED[what].name} was never checked"
    same = "the same" if last["locked"] == digest(what) else "another"
    return f"{same} {LOCKED[what].name} was found clean on {last['checked']}, by the database of {last['database']}"


def digest(what: str) -> str:
    return hashlib.sha256(LOCKED[what].read_bytes()).hexdigest()


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="note what was found clean, and when")
    arguments = parser.parse_args()
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    results = {what: check() for what, check in CHECKS.items()}
    for what, checked in results.items():
        print(report(what, checked, record))
        if checked.database is not None and not checked.found:
            record[what] = {"checked": today(), "database": checked.database, "locked": digest(what)}
    if arguments.record:
        RECORD.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    return int(any(checked.found for checked in results.values()))


if __name__ == "__main__":
    sys.exit(main())
