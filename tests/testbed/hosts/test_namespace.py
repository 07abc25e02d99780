"""What a host in namespaces is set up with: commands for a shell, in which a name is a word and nothing else."""

import shlex
import subprocess
from pathlib import Path

from middlemark.testbed.hosts.namespace import PrivateFolders, setting_up


def test_a_name_is_one_word_of_the_commands_whatever_it_holds(tmp_path: Path) -> None:
    name = f"x; touch {tmp_path}/ran; $(touch {tmp_path}/ran)"
    first = setting_up(name, PrivateFolders(tmp_path, (), ())).splitlines()[0]
    assert shlex.split(first) == ["hostname", name.replace("_", "-")]
    subprocess.run(["sh", "-c", f"hostname() {{ :; }}; {first}"], check=True)
    assert not (tmp_path / "ran").exists()
