"""A paper for tests: three findings about two middlewares, one suite that runs here, and one of which nothing does."""

from pathlib import Path

PAPER = """\
paper: staged
title: Two & more
published: nowhere, 2025
summary: which of two is faster
equipment: {theirs: a switch <b>, here: a bridge}
suites:
  - suite: messages
    quick: {trials: 3, workloads: [{workload: imu, rate: 200 Hz, size: 100 B}]}
  - suite: elsewhere
tables:
  - {table: latency, summary: latency of all, source: page 2, suite: messages}
findings:
  - finding: 1
    says: One is faster than two.
    source: page 3
    suite: messages
    claims:
      - median(latency)[middleware=fake, workload=imu] < median(latency)[middleware=other, workload=imu]
      - median(latency)[middleware=fake, workload=radar] < median(latency)[middleware=other, workload=radar]
    otherwise:
      - how: backwards
        says: Two in place of one.
        suite: messages
        claims: median(latency)[middleware=other, workload=imu] < median(latency)[middleware=fake, workload=imu]
  - finding: 2
    says: Nobody needs a second.
    source: page 3
    suite: messages
    claims: median(latency)[workload=imu] < 1 s
    explained:
      setting: workload, radar in place of imu
      says: It stays below with larger messages.
      suite: messages
      claims: median(latency)[middleware=fake, workload=radar] < 1 s
  - finding: 3
    says: Two is easier to use.
    source: page 4
    decided_by: A study with people would decide it.
"""
MESSAGES = """\
suite: staged-messages
trials: 4
middlewares: [fake, other]
workloads:
  - {workload: imu, rate: 200 Hz, size: 100 B}
  - {workload: radar, rate: 200 Hz, size: 1 kB}
windows: {first_message: 20 s, warm_up: 20 ms, window: 200 ms, drain: 100 ms}
"""
ELSEWHERE = "suite: staged-elsewhere\nmiddlewares: other\nworkloads: imu\n"
LATENCY = """\
middleware,workload,metric,value,unit
fake,imu,median(latency),0.1,ms
other,imu,median(latency),0.3,ms
fake,radar,median(latency),0.2,ms
other,radar,median(latency),,ms
"""


def stage_paper(folder: Path) -> Path:
    """Writes the paper's folder."""
    folder.mkdir(parents=True)
    files = {"paper.yaml": PAPER, "messages.yaml": MESSAGES, "elsewhere.yaml": ELSEWHERE, "latency.csv": LATENCY}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
