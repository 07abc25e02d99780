"""The page's colours can be told apart by eyes that lack a kind of cone, on white and on dark paper.

Simulated by Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency",
IEEE TVCG 15(6), 2009, with their matrices for a cone that is missing; differences are CIEDE2000 (Sharma, Wu and Dalal,
"The CIEDE2000 color-difference formula", Color Research and Application 30(1), 2005).
"""

import math
import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from middlemark.report.elements.labels import COLOURS
from middlemark.report.internals.chain_charts import PARTS as PARTS_OF_CHAINS
from middlemark.report.internals.kernel_path import PARTS as PARTS_OF_PATHS

ALL_CONES = "all cones"
EYES = {
    ALL_CONES: ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
D65 = (0.95047, 1.0, 1.08883)
Lab = tuple[float, float, float]
OF_ANY_TWO, OF_THE_FIRST_EIGHT = {True: 15, False: 11}, {True: 20, False: 14}
"""In CIEDE2000: with all cones more, as a reader who sees hues takes two greyish ones for one."""


def linear(colour: str) -> np.ndarray:
    """Of `#rrggbb` (IEC 61966-2-1)."""
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def seen(colour: str, eyes: str) -> Lab:
    """In CIELAB."""
    xyz = np.array(XYZ) @ np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1) / np.array(D65)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))


def difference(one: Lab, other: Lab) -> float:
    """CIEDE2000, in the notation of its paper."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    g = 0.5 * (1 - math.sqrt(_seventh((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2)))
    c1, c2 = math.hypot((1 + g) * a1, b1), math.hypot((1 + g) * a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, (1 + g) * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * math.cos(math.radians(middle - 30))
        + 0.24 * math.cos(math.radians(2 * middle))
        + 0.32 * math.cos(math.radians(3 * middle + 6))
        - 0.20 * math.cos(math.radians(4 * middle - 63))
    )
    s_l = 1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    blue = math.radians(60 * math.exp(-(((middle - 275) / 25) ** 2)))
    rotated = -math.sin(blue) * 2 * math.sqrt(_seventh(chroma)) * (c2 - c1) / s_c * hue / s_h
    return math.sqrt(((l2 - l1) / s_l) ** 2 + ((c2 - c1) / s_c) ** 2 + (hue / s_h) ** 2 + rotated)


def _seventh(chroma: float) -> float:
    return chroma**7 / (chroma**7 + 25.0**7)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.4900, -0.0010), (50.0, -2.4900, 0.0009), 7.1792),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_the_difference_is_that_of_the_published_pairs(one: Lab, other: Lab, expected: float) -> None:
    assert difference(one, other) == pytest.approx(expected, abs=5e-5)


def style() -> str:
    return resources.files("middlemark.report").joinpath("templates", "report.css").read_text(encoding="utf-8")


def palette(paper: str) -> dict[str, str]:
    """The style sheet's variables on white paper, or on dark."""
    light, dark, *_ = re.findall(r":root \{(.*?)\}", style(), re.DOTALL)
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", {"light": light, "dark": dark}[paper]))


def series(paper: str) -> list[str]:
    return [palette(paper)[f"series-{number}"] for number in range(COLOURS)]


def least(colours: list[str], eyes: str) -> float:
    return min(difference(seen(one, eyes), seen(other, eyes)) for one, other in combinations(colours, 2))


@pytest.mark.parametrize("paper", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_any_two_middlewares_have_colours_that_any_eyes_tell_apart(paper: str, eyes: str) -> None:
    colours = series(paper)
    assert least(colours, eyes) >= OF_ANY_TWO[eyes == ALL_CONES]
    assert least(colours[:8], eyes) >= OF_THE_FIRST_EIGHT[eyes == ALL_CONES]


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_every_line_stands_out_from_its_paper(paper: str) -> None:
    """WCAG 2.2, 1.4.11: at least 3 to 1."""
    own = palette(paper)
    grounds = [luminance(own[name]) for name in ("paper", "raised")]
    for colour in series(paper):
        for ground in grounds:
            low, high = sorted((luminance(colour), ground))
            assert (high + 0.05) / (low + 0.05) >= 3, colour


def luminance(colour: str) -> float:
    return float(np.array(XYZ[1]) @ linear(colour))


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize(
    "colours",
    [[colour for _, colour in PARTS_OF_PATHS.values()], list(PARTS_OF_CHAINS.values())],
    ids=["messages", "chains"],
)
def test_any_two_parts_of_a_bar_are_told_apart(colours: list[str], eyes: str) -> None:
    assert least(colours, eyes) >= 8
