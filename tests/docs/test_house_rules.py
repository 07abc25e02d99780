"""What CONTRIBUTING.md says of the source holds: small folders, short modules, imports in one direction, paths that exist."""

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import grimp

from pages import ROOT

SOURCE = ROOT / "src" / "middlemark"
MOST_ENTRIES, MOST_LINES, MOST_LINES_OF_BODY, MOST_LINES_OF_TEMPLATE, LONGEST_NAME = 12, 300, 40, 120, 80
GENERATED = {SOURCE / "worker" / "contract.py"}
RIDDLES = {
    *("asked", "dealt", "each", "fare", "fared", "found", "kept", "known", "one"),
    *("own", "said", "seen", "surely", "what", "who"),
}
"""Names that could be of anything."""
FOLDERS = sorted({path.parent for path in SOURCE.rglob("*.py")})
MARKERS = ("/__init__.py", "/__main__.py", "/py.typed")
LARGER_FOLDERS = {
    ".": "tools look for their files there",
    "tests": "the folders of the source, and those of the whole",
    "workers": "one for each middleware, and what they share",
    "docs/middlewares": "one page for each middleware",
    "tests/golden/*/trials": "stored runs: one for each trial",
}
"""Those that may have more entries, and why."""


def files() -> list[str]:
    """The files of the repository, without what is ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


def entries() -> dict[str, set[str]]:
    """What each folder of the repository holds, without what only makes a folder a package or a program."""
    held: dict[str, set[str]] = defaultdict(set)
    for name in files():
        if not name.endswith(MARKERS):
            parts = PurePosixPath(name).parts
            for depth, part in enumerate(parts):
                held["/".join(parts[:depth]) or "."].add(part)
    return held


def test_a_folder_has_at_most_a_dozen_entries() -> None:
    many = {
        folder: sorted(held)
        for folder, held in entries().items()
        if len(held) > MOST_ENTRIES and not any(fnmatch(folder, pattern) for pattern in LARGER_FOLDERS)
    }
    assert many == {}, (
        f"more than {MOST_ENTRIES} entries: put what is of one subject into a folder of its own, or join two files that "
        "are one concept"
    )


def test_a_module_has_at_most_300_lines() -> None:
    rust = [ROOT / name for name in files() if name.endswith(".rs")]
    modules = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *rust]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MOST_LINES and path not in GENERATED}
    assert long == {}, f"more than {MOST_LINES} lines: move one of its concepts to the module that it belongs to"


def test_a_template_has_at_most_120_lines() -> None:
    templates = [path for pattern in ("*.j2", "*.css", "*.js") for path in SOURCE.rglob(pattern)]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in templates}
    long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MOST_LINES_OF_TEMPLATE}
    assert long == {}, f"more than {MOST_LINES_OF_TEMPLATE} lines: include its parts"


def test_a_function_has_a_body_of_at_most_40_lines() -> None:
    """A signature doesn't count: a command has a line or more for each of its options."""
    functions = [
        (f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.body)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lines = {name: (body[-1].end_lineno or 0) - body[0].lineno + 1 for name, body in functions}
    assert {name: n for name, n in lines.items() if n > MOST_LINES_OF_BODY} == {}, (
        "let it decide, compute, act or print: one of these"
    )


def test_a_name_in_the_source_says_what_it_names() -> None:
    riddles = [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for path in SOURCE.rglob("*.py")
        if path not in GENERATED
        for node in names_bound(ast.parse(path.read_text(encoding="utf-8")))
        if (name := bound_name(node)) in RIDDLES
    ]
    assert riddles == [], "name the thing: candidate, metric, row, …"


def names_bound(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but the fields of classes: some are keys of what earlier builds have stored."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.ClassDef) and isinstance(child, ast.AnnAssign):
            continue
        yield child
        yield from names_bound(child)


def bound_name(node: ast.AST) -> str | None:
    """The name that a node gives to something."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.MatchAs(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return None


def test_a_test_has_a_name_that_a_person_can_say() -> None:
    named = {
        name: str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {name: path for name, path in named.items() if len(name) > LONGEST_NAME} == {}, "say it in fewer words"


def test_no_file_has_both_sides_of_a_merge() -> None:
    found = subprocess.run(
        ["git", "grep", "-lIE", "^(<{7}|>{7}) "], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout.split()) == (1, []), "keep what both mean, and take out the marks"


def test_no_modules_import_each_other_in_a_cycle() -> None:
    graph = grimp.build_graph("middlemark", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    cycle = ""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
    assert cycle == "", "move what both modules need into the lower one, or into a third below both"


def test_each_path_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[\w./-]+)`", text))
    assert "analysis/stats" in named
    assert [each for each in sorted(named) if not (ROOT / each).exists() and not (SOURCE / each).exists()] == []


def test_each_name_that_contributing_looks_for_in_a_file_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)` (?:in|of) `([a-z_]+/[\w./-]+\.(?:py|rs|yaml))`", text)
    assert ("Action", "suite/conditions.py") in named
    files = {path: next(each for each in (ROOT / path, SOURCE / path) if each.exists()) for _, path in named}
    missing = [
        f"{name} in {path}"
        for name, path in named
        if not re.search(rf"\b{name}\b", files[path].read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_contributing_says_what_each_folder_holds() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = [str(folder.relative_to(SOURCE)) for folder in FOLDERS if folder != SOURCE]
    assert [folder for folder in folders if f"`{folder}`" not in text] == []


def test_the_glossary_has_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", text.partition("## Spellings")[0], re.MULTILINE)
    words = Counter(word for row in rows if row not in {"word", "---"} for word in row.split(", "))
    assert words["patience"] == 1
    assert [word for word, times in words.items() if times > 1] == []


def test_every_page_is_linked_from_the_first_or_from_an_overview() -> None:
    overviews = [ROOT / "docs" / "index.md", ROOT / "docs" / "papers" / "index.md"]
    linked = {
        (overview.parent / link).resolve()
        for overview in overviews
        for link in re.findall(r"\]\(([^)#]+\.md)", overview.read_text(encoding="utf-8"))
    }
    pages = {page.resolve() for page in (ROOT / "docs").rglob("*.md")} - {overviews[0].resolve()}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - linked) == []
