"""Reads what a report's page carries, for tests."""

import base64
import gzip
import json
import re
from typing import Any


def specs(page: str) -> dict[str, Any]:
    """The page's charts by their names, unpacked as its script does it."""
    found = re.search(r'id="specs">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    unpacked: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return unpacked
