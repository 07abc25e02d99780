# ruff: noqa: ANN001, ANN201, ANN204
"""A worker that really speaks the contract and really passes messages, over UDP, and can be told to go wrong.

It carries periodic streams only. `fault` says how it goes wrong, `faulty` which of the trial's processes does.
Nothing but the standard library and the modules beside it, so that it starts at once.
"""

import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath(__file__) + ".lib")  # noqa: PTH100 - where a worker's own files are

import fake_samples
from fake_protocol import Lines, credentials, description, die, now, path_proof, resources, say

HEADER = struct.Struct("<IHHIIqq")  # token, stream, publisher, sequence, of the window, intended, sent: 32 bytes
CARRIES_HZ = 1e9  # above it every second message is lost
IS_PUNCTUAL = False  # states what it would have on a machine that is never late, however busy this one is
PUNCTUAL_NS = 1_000_000  # what a message then takes


class Application:
    def __init__(self):
        self.lines = Lines(deaf=False)
        self.spec = self.lines.next()
        options = {"fault": "none", "faulty": "", **self.spec["options"]}
        self.fault = options["fault"] if self.spec["application"] in options["faulty"].split() else "none"
        self.settings = {"fault": self.fault}
        self.received, self.published, self.first, self.window = [], [], set(), None
        if self.fault == "deaf":
            self.lines.deaf = True
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def run(self):
        self.arm()
        self.start()
        self.measure()
        self.drain()
        self.stop()

    def arm(self):
        if self.fault == "dies_before_armed":
            die()
        if self.fault == "hangs_before_armed":
            time.sleep(3600)
        if self.fault.endswith("_without_end"):
            self.speak_without_end()
        if self.fault == "writes_junk":
            print("this is no event", flush=True)
        pattern = self.spec["streams"][0]["pattern"]["kind"]
        if pattern != "periodic" or self.fault == "refuses":
            say("refused", capability="pattern", reason=f"{pattern}: only periodic streams")
            sys.exit(2)
        say("armed", clock_cost_ns=50.0, resident_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)

    def start(self):
        at_ns = self.lines.next()["at_ns"]
        if self.fault == "fails_at_start":
            say("failed", doing="starting the middleware", causes=["no such thing", "as this"])
            sys.exit(1)
        if self.fault == "leaves_child":
            subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)
        if self.fault == "hides_child":
            hidden = ["setsid", "env", "-i", "/bin/sleep", "3571"]
            subprocess.Popen(hidden, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if self.fault == "leaves_memory":
            self.settings["memory"] = "/dev/shm/" + self.spec["rendezvous"]["name"]  # noqa: S108
            self.memory = open(self.settings["memory"], "w")  # noqa: SIM115, PTH123
        self.sockets = {}
        first_port = self.spec["rendezvous"]["first_port"]
        for endpoint in self.spec["endpoints"]:
            if endpoint["role"] == "subscriber":
                inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                inlet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
                inlet.bind(("127.0.0.1", first_port + endpoint["index"]))
                self.sockets[inlet] = endpoint["index"]
        self.outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.stream = self.spec["streams"][0]
        self.targets = [("127.0.0.1", first_port + index) for index, _ in enumerate(self.stream["subscribers"])]
        self.publishers = [each["index"] for each in self.spec["endpoints"] if each["role"] == "publisher"]
        self.period_ns = int(1e9 / self.stream["pattern"]["rate_hz"])
        self.listen(at_ns)
        say("initialised", since_ns=now())
        delivery = self.spec["delivery"]
        say(
            "effective",
            transport="udp",
            delivery=delivery,
            paths=["shared_memory"] if self.fault == "takes_another_path" else ["network"],
            receive_mode="select",
            zero_copy=False,
            settings=self.settings,
            **self.security(),
        )
        due_ns = at_ns
        while True:
            command = self.listen(due_ns)
            if command == {"command": "approach"}:
                continue
            if command is not None:
                break
            self.publish(0, 0, due_ns)
            due_ns += self.period_ns
        self.window = self.told_window(command)

    def told_window(self, command):
        """The window; where it is told to stop before there is one, as not everyone heard everyone, its end."""
        if command["command"] == "measure":
            return command["begin_ns"], command["end_ns"]
        say("unheard", endpoints=[f"{each['role']} {each['index']} knows nobody" for each in self.spec["endpoints"]])
        say("closed", took_ns=1)
        sys.exit(0)

    def security(self):
        """The level that it keeps, where it was given the word."""
        given = self.spec.get("security")
        if given is None or not self.spec["options"].get("keeps_security", True):
            return {}
        assert given["files"]["word.pem"].startswith("-----BEGIN PRIVATE KEY-----")
        return {"security": given["level"]}

    def listen(self, until_ns):
        """Receives until the instant; a command ends it early."""
        while True:
            command = self.lines.next(until_ns, *self.sockets)
            if command is not None:
                return command
            self.receive()
            if now() >= until_ns:
                return None

    def listen_in_window(self, until_ns):
        """Receives until the instant; ends where it is told to stop, as a timeline may have it."""
        if self.listen(until_ns) is not None:
            say("closed", took_ns=1)
            sys.exit(0)

    def receive(self):
        for inlet, index in self.sockets.items():
            while select.select([inlet], [], [], 0)[0]:
                message = inlet.recv(65536)
                at_ns = now()
                token, stream, publisher, sequence, in_window, intended_ns, sent_ns = HEADER.unpack_from(message)
                if IS_PUNCTUAL:
                    at_ns = sent_ns + PUNCTUAL_NS
                if token != self.spec["rendezvous"]["token"]:
                    continue
                if (publisher, index) not in self.first:
                    self.first.add((publisher, index))
                    path = {"stream": self.stream["name"], "publisher": publisher, "subscriber": index}
                    for event in ("first_message", "first_full_message"):  # it greets nobody
                        say(event, answers=False, received_ns=at_ns, **path)
                if in_window:
                    self.received.append((stream, 0, publisher, index, sequence, intended_ns, sent_ns, at_ns))

    def publish(self, sequence, in_window, due_ns):
        if self.fault == "silent":
            return
        token = self.spec["rendezvous"]["token"]
        for publisher in self.publishers:
            sent_ns = due_ns if IS_PUNCTUAL else now()
            if self.fault == "accepts_half" and in_window and sequence % 2:
                self.published.append((0, publisher, sequence, due_ns, sent_ns, now(), 0, 0))
                continue
            header = HEADER.pack(token, 0, publisher, sequence, in_window, due_ns, sent_ns)
            lost = in_window and sequence % 2 and self.stream["pattern"]["rate_hz"] > CARRIES_HZ
            for target in [] if lost else self.targets:
                self.outlet.sendto(header.ljust(self.stream["size_bytes"], b"."), target)
            if in_window:
                returned_ns = due_ns if IS_PUNCTUAL else now()
                self.published.append((0, publisher, sequence, due_ns, sent_ns, returned_ns, 0, 1))

    def measure(self):
        begin_ns, end_ns = self.window
        count = (end_ns - begin_ns) * 1000 // (self.period_ns * 1000)
        offered = count // 2 if self.fault == "gives_up_half" else count
        for sequence in range(offered if self.publishers else 0):
            due_ns = begin_ns + sequence * self.period_ns
            self.listen_in_window(due_ns)
            if self.fault == "dies_in_measure" and sequence == count // 2:
                die()
            self.publish(sequence, 1, due_ns)
        if self.fault == "dies_in_measure":
            self.listen((begin_ns + end_ns) // 2)
            die()
        self.listen_in_window(end_ns)
        refused = offered - sum(row[-1] for row in self.published) // max(len(self.publishers), 1)
        unsent = {"unsent": count - offered} if count > offered else {}
        counts = [
            {"stream": self.stream["name"], "publisher": publisher, "intended": count, "sent": offered - refused,
             "refused": refused, "refusal": "queue full" if refused else None, "last_returned_ns": end_ns if IS_PUNCTUAL else now(), **unsent}
            for publisher in self.publishers
        ]  # fmt: skip
        say("published", publishers=counts)

    def drain(self):
        command = self.lines.next(now() + 3600 * 10**9, *self.sockets)
        while command is None:
            self.receive()
            command = self.lines.next(now() + 3600 * 10**9, *self.sockets)
        if self.fault == "dies_in_drain":
            die()
        if self.fault == "hangs_in_drain":
            time.sleep(3600)
        self.receive()  # what is there already was in time, however late this process comes to it
        expected = sum(each["sent"] for each in command["expected"]) * len(self.sockets)
        while len(self.received) < expected and now() < command["until_ns"]:
            self.listen(min(now() + 1_000_000, command["until_ns"]))
        fake_samples.write(self.recorded("received.npy"), fake_samples.RECEIVED, self.received)
        fake_samples.write(self.recorded("published.npy"), fake_samples.PUBLISHED, self.published)
        if self.fault.startswith(("samples_", "log_")):
            what, how = self.fault.split("_")
            kind = "received.npy" if what == "samples" else "beyond.hlog"
            fake_samples.spoil(self.recorded(kind), len(self.received), what, how)
        say("done", subscribers=self.counts(command), resources=self.resources(), files=[],
            path=path_proof(self.fault))  # fmt: skip

    def counts(self, command):
        return [
            {
                "stream": self.stream["name"], "answers": False, "publisher": each["publisher"], "subscriber": index,
                "received": sum(row[2] == each["publisher"] and row[3] == index for row in self.received),
                "late": 0, "duplicates": 0, "reordered": 0, "corrupt": 0,
                "foreign": 3 if self.fault == "reports_foreign" else 0, "negative": 0, "beyond_samples": 0,
            }
            for each in command["expected"]
            for index in self.sockets.values()
        ]  # fmt: skip

    def resources(self):
        return resources(self.window, 10**9 if self.fault == "reports_steal" else 0)

    def recorded(self, kind):
        return os.path.join(self.spec["recording"]["folder"], f"{self.spec['application']}.{kind}")  # noqa: PTH118

    def speak_without_end(self):
        armed = json.dumps({"event": "armed", "clock_cost_ns": 50.0, "resident_bytes": 1}).encode() + b"\n"
        output, said = {
            "talks_without_end": (1, armed * 1000),
            "one_line_without_end": (1, b"x" * 65536),
            "logs_without_end": (2, b"x" * 65535 + b"\n"),
        }[self.fault]
        while True:
            os.write(output, said)

    def stop(self):
        assert self.lines.next()["command"] == "stop"
        if self.fault == "ignores_stop":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3600)
        say("closed", took_ns=1)


class Service:
    def __init__(self):
        self.lines = Lines(deaf=False)
        self.spec = self.lines.next()
        options = {"fault": "none", "faulty": "", **self.spec["options"]}
        name = f"{self.spec['service']}_{self.spec['index']}"
        self.fault = options["fault"] if name in options["faulty"].split() else "none"

    def run(self):
        if self.fault == "dies_before_armed":
            die()
        say("ready", version="1", settings={})
        command = self.lines.next()
        window = command["begin_ns"], command["end_ns"]
        if self.fault == "dies_in_measure":
            self.lines.next(sum(window) // 2)
            die()
        self.lines.next(window[1])
        say("measured", resources=resources(window, 0))
        assert self.lines.next()["command"] == "stop"
        say("closed")


def main():
    match sys.argv[1]:
        case "describe":
            print(json.dumps(description()))
        case "credentials":
            credentials(Lines(deaf=False).next())
        case "application":
            Application().run()
        case "service":
            Service().run()


main()
