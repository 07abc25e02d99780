# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN204
"""How the fake worker speaks: its description, events and commands as lines, and what it spent."""

import json
import os
import resource
import select
import signal
import sys
import time

FAULTS = (
    "none", "dies_before_armed", "hangs_before_armed", "writes_junk", "refuses", "fails_at_start", "silent",
    "dies_in_measure", "dies_in_drain", "hangs_in_drain", "ignores_stop", "deaf", "leaves_child", "leaves_memory",
    "reports_foreign", "reports_steal", "accepts_half", "gives_up_half", "talks_without_end", "one_line_without_end",
    "logs_without_end", "hides_child", "samples_empty", "samples_cut", "samples_negative", "samples_huge", "samples_pipe",
    "samples_link", "samples_objects", "samples_other", "samples_far", "log_junk", "log_pipe", "log_link",
    "takes_another_path",
)  # fmt: skip
CREDENTIALS = ("made", "refused", "failed", "lacking", "junk")
now = time.monotonic_ns


def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def die():
    print("dying as told", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def description():
    option = lambda name, kind, default: {"name": name, "kind": kind, "default": default, "summary": name}  # noqa: E731
    return {
        "contract_version": 3,
        "middleware": os.path.basename(sys.argv[0]).removeprefix("middlemark-worker-"),  # noqa: PTH119 - starts at once
        "title": "Fake",
        "summary": "Passes messages over UDP, and goes wrong as told.",
        "library": {"name": "none", "version": "1", "origin": "tests"},
        "capabilities": {
            "patterns": ["periodic"],
            "transports": ["udp"],
            "reliabilities": ["best_effort"],
            "durabilities": ["volatile"],
            "histories": ["keep_all"],
            "congestion": ["drop"],
            "deliveries": {
                "default": "own_thread",
                "has": [{"delivery": "own_thread", "how": "Waits in select.", "source": "tests"}],
                "lacks": [
                    {"delivery": "library_thread", "reason": "there is no library"},
                    {"delivery": "polling", "reason": "it is slow enough"},
                ],
            },
            "matching": {"kind": "never", "reason": "over UDP nobody can know"},
            "largest_message_bytes": 60000,
            "zero_copy": False,
            "same_process": True,
            "security": [
                {"level": "authenticated", "how": "Shows a word.", "identity": "credentials", "by_stream": False}
            ],
            "lacking_security": [{"level": "encrypted", "reason": "it passes plain datagrams"}],
            "between_hosts": False,
        },
        "protocols": [{"name": "datagrams", "message": "a header, then dots", "topics": "none"}],
        "services": [
            {
                "service": "broker",
                "per": "network",
                "when": [{"option": "brokered", "values": [True]}],
                "library": {"name": "go-between", "version": "2.0.11", "origin": "tests", "released": "2021-06-09"},
            }
        ],
        "profiles": {"default": {"summary": "as shipped", "options": {}}},
        "options": [
            option("fault", {"kind": "choice", "choices": list(FAULTS)}, "none"),
            option("faulty", {"kind": "text"}, ""),
            option("brokered", {"kind": "boolean"}, False),
            option("credentials", {"kind": "choice", "choices": list(CREDENTIALS)}, "made"),
            option("keeps_security", {"kind": "boolean"}, True),
        ],
    }


def credentials(request):
    """What the command `credentials` answers: a word for each process, or how that goes wrong."""
    secret = {"word.pem": "-----BEGIN PRIVATE KEY-----" + os.urandom(16).hex()}
    names = [each["application"] for each in request["applications"]]
    match request["options"].get("credentials", "made"):
        case "refused":
            say("refused", capability="security", reason="not under these options")
        case "failed":
            say("failed", doing="drawing a word", causes=["no luck"])
        case "junk":
            print(json.dumps({"event": "made", "applications": secret}))
        case how:
            services = [
                {"service": each["service"], "index": each["index"], "files": secret} for each in request["services"]
            ]
            applications = dict.fromkeys(names[how == "lacking" :], secret)
            say("made", applications=applications, services=services, stated={"word": "16 bytes"})


class Lines:
    """Lines of standard input; waits for them no longer than asked."""

    def __init__(self, deaf):
        self.rest, self.deaf, self.ended = b"", deaf, False

    def next(self, until_ns=None, *others):
        """The next command, or None when the instant has come or another file is readable."""
        while b"\n" not in self.rest:
            left = None if until_ns is None else max(until_ns - now(), 0) / 1e9
            readable = select.select([*([] if self.ended else [0]), *others], [], [], left)[0]
            if 0 not in readable:
                return None
            chunk = os.read(0, 65536)
            self.ended = not chunk
            if self.ended and not self.deaf:
                os._exit(1)
            self.rest += chunk
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)


def resources(window, steal_ns):
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall_ns": window[1] - window[0], "cpu_user_ns": int(usage.ru_utime * 1e9),
        "cpu_system_ns": int(usage.ru_stime * 1e9), "peak_resident_bytes": usage.ru_maxrss << 10,
        "resident_bytes": usage.ru_maxrss << 10, "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw, "minor_faults": usage.ru_minflt, "major_faults": usage.ru_majflt,
        "machine_steal_ns": steal_ns,
    }  # fmt: skip


def path_proof(fault):
    """What a process saw of its path: nothing, or that its messages can only have taken a socket."""
    if fault == "takes_another_path":
        return {"interfaces": [], "segments": [], "sockets": [{"protocol": "udp", "sockets": 1}]}
    return {"unseen": ["interfaces, segments and sockets: it does not look"]}
