"""What dask-jobqueue would give to Slurm starts a test-bed, as the guide says it."""

import subprocess
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster

from fleets import PATIENCE_S, PATIENT, until
from middlemark.campaign.fleet import testbed

pytestmark = PATIENT


def test_the_job_that_dask_jobqueue_writes_is_a_test_bed(tmp_path: Path) -> None:
    script, log = tmp_path / "job.sh", tmp_path / "job.log"
    with (
        log.open("wb") as output,
        SLURMCluster(
            worker_command="middlemark testbed join",
            python=sys.executable,
            cores=1,
            processes=1,
            memory="4 GB",
            walltime="12:00:00",
            job_extra_directives=["--exclusive"],
            scheduler_options={"host": "127.0.0.1", "port": 0, "dashboard": False},
        ) as cluster,
    ):
        script.write_text(cluster.job_script())
        assert "#SBATCH --exclusive\n" in script.read_text()
        job = subprocess.Popen(("bash", script), cwd=tmp_path, stdout=output, stderr=output)
        until(lambda: bool(cluster.scheduler.workers), "the job does not join")
        (worker,) = cluster.scheduler.workers.values()
        assert worker.resources == testbed.PLACE
        assert testbed.STATEMENT in worker.extra
    assert job.wait(PATIENCE_S) == 0, "a test-bed ends with its scheduler"
