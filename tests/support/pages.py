"""The pages that users read, and the blocks of code in them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name(page: Path) -> str:
    """How a test calls it."""
    return str(page.relative_to(ROOT))


def text(page: str) -> str:
    """The text of a page of `docs/`."""
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
