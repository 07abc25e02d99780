"""The report in a real browser: every chart is drawn, nothing goes wrong, nothing is asked of any network."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from behaviour import Behaviour
from known_suites import THIRTEEN_SIZES
from middlemark.report.output.html import write_report
from run_builder import build_demand_run, build_run
from shared_runs import GOLDEN

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--virtual-time-budget=10000",
    "--enable-logging=stderr",
    "--dump-dom",
]
SUITE = """
suite: drawn
trials: 3
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}, {workload: ping_pong, windows: {window: 100 ms}}]
"""
WATCHED = """
suite: watched
trials: 2
middlewares: all
observe: [resources, wire]
workloads: {workload: imu, size: [100 B, 1 kB], windows: {window: 1 s}}
topologies: D1-1
"""

pytestmark = [
    pytest.mark.timeout(300),  # a browser starts slowly on a busy machine
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


def browsed(page: Path, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """The page as it is once its script has run."""
    return subprocess.run(
        [str(CHROMIUM), *FLAGS, *flags, f"--user-data-dir={folder / 'browser'}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )


def at_its_end(page: str, script: str) -> str:
    """The page with one more script; its own speaks of a body's end too."""
    rest, _, end = page.rpartition("</body>")
    return f"{rest}{script}</body>{end}"


@pytest.mark.parametrize(("suite", "expected"), [(SUITE, 18), (WATCHED, 23)], ids=["plain", "watched"])
def test_every_chart_is_drawn_and_nothing_goes_wrong(tmp_path: Path, suite: str, expected: int) -> None:
    behaviours = {"one": Behaviour(loss=0.1), "two": Behaviour(latency_ns=90_000)}
    shown = browsed(write_report(build_run(tmp_path / "run", suite, behaviours).path), tmp_path)
    plots = len(re.findall(r'class="plot', shown.stdout))
    assert plots == expected
    assert len(re.findall(r'class="marks"', shown.stdout)) == plots
    assert "CONSOLE" not in shown.stderr


CHOOSING = """<script type="module">
while (document.getElementById("select").hidden) await new Promise((next) => setTimeout(next, 10));
const box = [...document.querySelectorAll("#select input")].find((each) => each.dataset.labels.includes("two"));
const choice = document.querySelector("#select select[name=workload]");
box.checked = false;
choice.value = "imu";
choice.dispatchEvent(new Event("change", { bubbles: true }));
</script>"""


def test_what_is_not_chosen_is_neither_shown_nor_drawn(tmp_path: Path) -> None:
    behaviours = {"one": Behaviour(loss=0.1), "two": Behaviour(latency_ns=90_000)}
    report = write_report(build_run(tmp_path / "run", SUITE, behaviours).path)
    chosen = report.with_name("chosen.html")
    page = report.read_text(encoding="utf-8")
    chosen.write_text(at_its_end(page, CHOOSING), encoding="utf-8")
    shown = browsed(chosen, tmp_path)
    assert "1 of 2 settings, 1 of 2 middlewares" in shown.stdout
    rows = re.findall(r'<tr data-series="(\w+)"([^>]*)>', shown.stdout)
    assert {(who, "hidden" in more) for who, more in rows} >= {("one", False), ("two", True)}
    assert all(("hidden" in more) == (who == "two") for who, more in rows if who in behaviours)
    sections = dict(re.findall(r'<section id="s\d+-(\w+)"[^>]*?( hidden="")?>', shown.stdout))
    assert sections == {"imu": "", "ping_pong": ' hidden=""'}
    drawn = re.findall(r'id="plot-s\d+-imu-cpu".*?</svg>', shown.stdout, re.DOTALL)
    assert drawn
    assert ">two<" not in drawn[0]
    assert ">one<" in drawn[0]
    assert "CONSOLE" not in shown.stderr


OPENING = """<script type="module">
while (document.getElementById("select").hidden) await new Promise((next) => setTimeout(next, 10));
document.querySelector("section.workload details.body").open = true;
document.querySelectorAll("section.workload details.body details").forEach((each) => { each.open = true; });
</script>"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of so many settings that what has to be opened is packed."""
    folder = tmp_path_factory.mktemp("many") / "run"
    return write_report(
        build_run(
            folder, THIRTEEN_SIZES.replace("2 s", "200 ms"), {"one": Behaviour(), "two": Behaviour(loss=0.1)}
        ).path
    )


def test_folded_settings_are_unpacked_and_drawn_when_they_are_opened(many: Path, tmp_path: Path) -> None:
    page = many.read_text(encoding="utf-8")
    assert "Outliers" not in page
    opened = many.with_name("opened.html")
    opened.write_text(at_its_end(page, OPENING), encoding="utf-8")
    shown = browsed(opened, tmp_path)
    assert shown.stdout.count("<caption>Outliers") == 13
    first = shown.stdout[shown.stdout.index('<section id="s1-imu"') : shown.stdout.index('<section id="s2-imu"')]
    assert first.count('class="plot') == first.count('class="marks"') > 0
    assert "CONSOLE" not in shown.stderr


MAPPED = """<script type="module">
while (document.getElementById("select").hidden) await new Promise((next) => setTimeout(next, 10));
const box = [...document.querySelectorAll("#select input")].find((each) => each.dataset.labels.includes("two"));
const choice = document.querySelector("#select select[name=size]");
box.checked = false;
choice.value = "1 kB";
choice.dispatchEvent(new Event("change", { bubbles: true }));
document.querySelector("#scaling figure details").open = true;
</script>"""


def test_the_map_follows_the_choice_and_a_figure_of_all_settings_opens_its_trials(many: Path, tmp_path: Path) -> None:
    chosen = many.with_name("chosen.html")
    chosen.write_text(at_its_end(many.read_text(encoding="utf-8"), MAPPED), encoding="utf-8")
    shown = browsed(chosen, tmp_path)
    heat = shown.stdout[shown.stdout.index('<table class="heat"') :]
    head, *rows = re.findall(r"<tr.*?</tr>", heat[: heat.index("</table>")], re.DOTALL)
    columns = re.findall(r'<th scope="col"( hidden="")?>([^<]*)</th>', head)
    assert {name for gone, name in columns if not gone} == {"middleware", "1 kB"}
    assert [("two" in row, 'hidden=""' in row.partition(">")[0]) for row in rows] == [(False, False), (True, True)]
    figure = shown.stdout[shown.stdout.index('<figure class="chart" id="scaling-size0"') :]
    assert 'hidden=""' not in figure.partition(">")[0]
    records = re.findall(r'href="(trials/[^"]+)"', figure[: figure.index("</figure>")])
    assert len(records) == 26
    assert all((many.parent / record).is_file() for record in records)
    assert "CONSOLE" not in shown.stderr


MEASURING = """<script type="module">
while (document.getElementById("select").hidden) await new Promise((next) => setTimeout(next, 10));
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const undrawn = () => document.querySelector(".plot:not(:has(svg.marks))");
while (undrawn()) await new Promise((next) => setTimeout(next, 10));
const beyond = [...document.querySelectorAll("main *, header *, footer *")].filter(
  (each) => !each.closest(".scroll, pre, svg, .skip") && each.getBoundingClientRect().right > innerWidth + 1);
const isCut = (label) => {
  const own = label.getBoundingClientRect(), drawing = label.closest("svg").getBoundingClientRect();
  return own.width > 0 && (own.left < drawing.left - 1 || own.right > drawing.right + 1);
};
parent.postMessage(JSON.stringify({
  width: innerWidth, needed: document.documentElement.scrollWidth, beyond: beyond.map((each) => each.outerHTML.slice(0, 90)),
  cut: [...document.querySelectorAll(".plot svg text")].filter(isCut).map((each) => `${each.closest(".plot").id}: ${each.textContent}`),
}), "*");
</script>"""
PHONE = """<!doctype html>
<body><iframe src="report.html" width="390" height="844" style="border: 0"></iframe>
<script>addEventListener("message", (event) => { document.body.dataset.measured = event.data; });</script>
</body>"""  # no window of a browser is that narrow


def measured(dom: str, name: str) -> dict[str, object]:
    found = re.search(rf'<body[^>]* data-{name}="([^"]*)"', dom)
    assert found is not None, "the script did not come to its end"
    said: dict[str, object] = json.loads(html.unescape(found[1]))
    return said


@pytest.mark.parametrize("stored", ["run-format-1-observed", "run-format-1-links"])
def test_on_a_phone_nothing_is_wider_than_the_screen_and_no_label_is_cut_off(tmp_path: Path, stored: str) -> None:
    report = write_report(Path(shutil.copytree(GOLDEN / stored, tmp_path / "run")))
    report.write_text(at_its_end(report.read_text(encoding="utf-8"), MEASURING), encoding="utf-8")
    phone = report.with_name("phone.html")
    phone.write_text(PHONE, encoding="utf-8")
    shown = browsed(phone, tmp_path, "--hide-scrollbars")
    assert measured(shown.stdout, "measured") == {"width": 390, "needed": 390, "beyond": [], "cut": []}


SEARCHED = """
application: searched
trials: 1
window: 200 ms
processes: [drivers, control]
streams:
""" + "".join(
    f"  - {{topic: t{number}, publishers: drivers, subscribers: control, size: 64 B, rate: 100 Hz, deadline: 20 ms}}\n"
    for number in range(24)
)
SEARCHING = """<script type="module">
while (!document.body.classList.contains("searchable")) await new Promise((next) => setTimeout(next, 10));
const box = document.querySelector('input.search[aria-label$="Each requirement"]');
box.value = "MS T21";
box.dispatchEvent(new Event("input", { bubbles: true }));
const rows = [...document.querySelectorAll('[role=region][aria-label="Each requirement"] tbody tr')];
const shown = rows.filter((each) => each.checkVisibility()).map((each) => each.cells[0].textContent);
document.body.dataset.found = JSON.stringify({ rows: rows.length, shown });
</script>"""


def test_of_many_streams_those_with_all_words_are_found(tmp_path: Path) -> None:
    report = write_report(build_demand_run(tmp_path / "run", SEARCHED, {"one": Behaviour()}).path)
    report.write_text(at_its_end(report.read_text(encoding="utf-8"), SEARCHING), encoding="utf-8")
    shown = browsed(report, tmp_path)
    assert measured(shown.stdout, "found") == {"rows": 24, "shown": ["t21"]}
    assert "CONSOLE" not in shown.stderr


PRINTING = """<script type="module">
while (document.getElementById("select").hidden) await new Promise((next) => setTimeout(next, 10));
dispatchEvent(new Event("beforeprint"));
for (let kept = 0; kept < 1000; kept += 1) await null;
const count = (selector) => document.querySelectorAll(selector).length;
document.body.dataset.printed = JSON.stringify({
  closed: count("details:not([open])"), packed: count("[data-packed]"), plots: count(".plot"),
  empty: [...document.querySelectorAll(".plot")].filter(
    (each) => !each.querySelector("svg.marks g.mark-group") || each.querySelector("svg").clientWidth < 100).length,
});
</script>"""


def test_what_is_folded_is_open_and_drawn_when_the_browser_prints(many: Path, tmp_path: Path) -> None:
    """A browser takes the page as it is once `beforeprint` was handled, with what promises that are kept still do."""
    printed = many.with_name("printed.html")
    printed.write_text(at_its_end(many.read_text(encoding="utf-8"), PRINTING), encoding="utf-8")
    shown = browsed(printed, tmp_path)
    found = measured(shown.stdout, "printed")
    assert found == {"closed": 0, "packed": 0, "plots": found["plots"], "empty": 0}
    assert found["plots"] == len(re.findall(r'class="plot', shown.stdout)) > 100
    assert shown.stdout.count("<caption>Outliers") == 13
    assert "CONSOLE" not in shown.stderr
