"""A worker process is heard in order, told lines, and always ended, with all of its group."""

import asyncio
import mmap
import os
import signal
import subprocess
from collections.abc import Coroutine
from pathlib import Path

import psutil
import pytest
from pydantic import BaseModel, TypeAdapter

from middlemark.errors import WorkerFailed
from middlemark.worker import process as process_module
from middlemark.worker.contract import ApplicationEvent, ApplicationStop
from middlemark.worker.process import Ended, Heard, Junk, Said, TooMuch, WorkerProcess, last_lines

EVENTS: TypeAdapter[BaseModel] = TypeAdapter(ApplicationEvent)
ARMED = '{"event":"armed","clock_cost_ns":20.5,"resident_bytes":1}'


class Large(BaseModel):
    text: str


class Ear:
    def __init__(self) -> None:
        self.heard: list[Heard[BaseModel]] = []
        self.more = asyncio.Event()

    def __call__(self, heard: Heard[BaseModel]) -> None:
        self.heard.append(heard)
        self.more.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.heard) < count:
                self.more.clear()
                await self.more.wait()


async def started(script: str, ear: Ear, log: Path) -> WorkerProcess[BaseModel]:
    return await WorkerProcess.start("w", ["sh", "-c", script], environment={}, log=log, events=EVENTS, hear=ear)


def pipe_of(descriptor: Path) -> Path | None:
    """As the kernel names it; none for one that is closed meanwhile."""
    try:
        return descriptor.readlink()
    except OSError:
        return None


def our_end_of(pipe: Path) -> Path:
    (ours,) = [each for each in Path("/proc/self/fd").iterdir() if pipe_of(each) == pipe_of(pipe)]
    return ours


def run(coroutine: Coroutine[object, object, None]) -> None:
    asyncio.run(coroutine)


def test_events_come_in_order_and_the_end_comes_last(tmp_path: Path) -> None:
    async def test() -> None:
        ear = Ear()
        worker = await started(f"echo '{ARMED}'; echo junk; echo why >&2; exit 3", ear, tmp_path / "log")
        await ear.until(3)
        said, junk, ended = ear.heard
        assert isinstance(said, Said)
        assert said.event.model_dump(exclude={"event"}) == {"clock_cost_ns": 20.5, "resident_bytes": 1}
        assert isinstance(junk, Junk)
        assert junk.line == "junk"
        assert isinstance(ended, Ended)
        assert ended.exit_status == worker.exit_status == 3
        assert said.at_ns <= junk.at_ns <= ended.at_ns
        await worker.end(1)

    run(test())
    assert last_lines(tmp_path / "log") == ("why",)


def test_what_a_worker_makes_is_its_users_alone(tmp_path: Path) -> None:
    async def test() -> None:
        ear = Ear()
        worker = await started("umask", ear, tmp_path / "log")
        await ear.until(2)
        assert isinstance(ear.heard[0], Junk)
        assert int(ear.heard[0].line, 8) == 0o077
        await worker.end(1)

    run(test())


def test_what_is_told_comes_as_one_line_of_json(tmp_path: Path) -> None:
    async def test() -> None:
        ear = Ear()
        worker = await started('read line; echo "$line"', ear, tmp_path / "log")
        worker.tell(ApplicationStop())
        await ear.until(2)
        assert isinstance(ear.heard[0], Junk)
        assert ear.heard[0].line == '{"command":"stop"}'
        worker.tell(ApplicationStop())  # it is gone: nothing happens
        await worker.end(1)

    run(test())


def test_a_large_message_does_not_block_on_a_worker_that_does_not_read(tmp_path: Path) -> None:
    async def test() -> None:
        worker = await started("sleep 600", Ear(), tmp_path / "log")
        worker.tell(Large(text="x" * 1_000_000))
        await worker.end(0.1)
        assert worker.exit_status == -signal.SIGTERM

    run(test())


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("cat; exit 7", 7),
        ("sleep 600", -signal.SIGTERM),
        ("trap '' TERM; while :; do sleep 1; done", -signal.SIGKILL),
        ("kill -STOP $$; sleep 600", -signal.SIGTERM),
    ],
)
def test_ending_goes_from_the_end_of_input_to_sigkill(tmp_path: Path, script: str, status: int) -> None:
    async def test() -> None:
        ear = Ear()
        worker = await started(f"echo ready; {script}", ear, tmp_path / "log")
        await ear.until(1)
        await worker.end(0.3)
        assert worker.exit_status == status
        await worker.end(0.3)  # once more does no harm

    run(test())


def test_a_child_that_holds_the_output_open_does_not_hide_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "LAST_WORDS_S", 0.1)

    async def test() -> None:
        ear = Ear()
        worker = await started("sleep 600 & echo $!; exit 5", ear, tmp_path / "log")
        await ear.until(2)
        assert isinstance(ear.heard[0], Junk)
        child = int(ear.heard[0].line)
        assert isinstance(ear.heard[1], Ended)
        assert ear.heard[1].exit_status == 5
        os.kill(child, signal.SIGKILL)
        await worker.end(0.1)

    run(test())


def test_a_child_that_holds_the_input_open_keeps_no_pipe_of_ours_open(tmp_path: Path) -> None:
    async def test() -> None:
        ear = Ear()
        # In the background a shell would give it another input.
        worker = await started("exec 3<&0; setsid sleep 600 <&3 >&2 & echo $!; exec sleep 600", ear, tmp_path / "log")
        await ear.until(1)
        assert isinstance(ear.heard[0], Junk)
        child = int(ear.heard[0].line)
        worker.tell(Large(text="x" * 1_000_000))
        ours = our_end_of(Path(f"/proc/{child}/fd/0"))
        await worker.end(0.1)
        assert pipe_of(ours) is None
        os.kill(child, signal.SIGKILL)

    run(test())


@pytest.mark.parametrize(
    ("limit", "most", "script"),
    [
        ("LONGEST_LINE_BYTES", 10_000, "head -c 1000000 /dev/zero"),
        ("MOST_SAID_BYTES", 1000, f"while :; do echo '{ARMED}'; done"),
        ("MOST_EVENTS", 7, f"while :; do echo '{ARMED}'; done"),
        ("MOST_LOG_BYTES", 3000, "head -c 1000000 /dev/zero >&2"),
    ],
)
def test_what_comes_without_end_is_told_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, script: str
) -> None:
    monkeypatch.setattr(process_module, limit, most)

    async def test() -> None:
        ear = Ear()
        worker = await started(f"{script}; sleep 600", ear, tmp_path / "log")
        async with asyncio.timeout(20):
            while not any(isinstance(each, TooMuch) for each in ear.heard):
                ear.more.clear()
                await ear.more.wait()
        (told,) = [each for each in ear.heard if isinstance(each, TooMuch)]
        assert str(most) in told.problem
        await worker.end(0.1)
        assert len(ear.heard) < 30
        assert (tmp_path / "log").stat().st_size <= process_module.MOST_LOG_BYTES

    run(test())


@pytest.mark.parametrize(
    ("total_times", "left_share", "is_too_much"), [(1.5, 0.01, True), (1.5, 0.5, False), (3, 0.01, False)]
)
def test_who_takes_the_memory_is_told_before_none_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total_times: float, left_share: float, *, is_too_much: bool
) -> None:
    own = psutil.Process()
    total_bytes = int(total_times * own.memory_info().rss)
    memory = psutil.virtual_memory()._replace(available=int(left_share * total_bytes))
    of_machine = {"SC_PAGESIZE": mmap.PAGESIZE, "SC_PHYS_PAGES": total_bytes // mmap.PAGESIZE}
    monkeypatch.setattr(os, "sysconf", of_machine.__getitem__)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    told = process_module._overuse(tmp_path / "log", own.pid)
    assert bool(told) is is_too_much
    assert not told or "were left" in told


def test_who_is_gone_takes_no_memory(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert process_module._overuse(tmp_path / "log", gone.pid) == ""


def test_of_a_long_line_that_is_no_event_its_begin_is_kept(tmp_path: Path) -> None:
    async def test() -> None:
        ear = Ear()
        worker = await started("head -c 1000000 /dev/zero; echo", ear, tmp_path / "log")
        await ear.until(1)
        assert isinstance(ear.heard[0], Junk)
        assert len(ear.heard[0].line) == process_module.JUNK_CHARACTERS
        await worker.end(0.1)

    run(test())


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def test() -> None:
        command = [str(tmp_path / "nothing"), "application"]
        log = tmp_path / "log"
        with pytest.raises(WorkerFailed, match="nothing can't be started"):
            await WorkerProcess.start("w", command, environment={}, log=log, events=EVENTS, hear=Ear())

    run(test())


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(log, 2) == ("line 99998", "line 99999")
    assert last_lines(tmp_path / "none") == ()


def test_of_a_log_that_grows_faster_than_it_is_read_no_more_than_its_tail_is_read() -> None:
    """The device has any number of bytes after what is its end."""
    (line,) = last_lines(Path("/dev/zero"))
    assert len(line) == process_module.TAIL_BYTES


def test_a_worker_and_its_children_go_first_when_memory_runs_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        ear, log = Ear(), tmp_path / "log"
        # It waits for a line, so that what its child says is of after its start.
        process = await started("read line; sh -c 'cat /proc/self/oom_score_adj >&2'", ear, log)
        process.tell(ApplicationStop())
        await ear.until(1)
        await process.end(5)
        assert last_lines(log) == ("1000",)

    run(scenario())
