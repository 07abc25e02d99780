"""Inputs that are nearly sound: examples with bytes, words and stretches altered, left out, repeated or exchanged.

A seeded chance draws every change, so that the same seed makes the same inputs. It knows no format; `kinds` does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

MOST_BYTES = 1 << 20
NUMBERS = (b"0", b"-1", b"1e999", b"nan", b"9" * 30, b"4294967296", b"-9223372036854775809", b"0.0000001")


def mutated(examples: Sequence[bytes], words: Sequence[str], chance: random.Random) -> bytes:
    """One to eight changes of an example; seldom bytes of no example at all."""
    if chance.random() < 0.02:
        return chance.randbytes(chance.randrange(400))
    content = bytearray(chance.choice(examples))
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        chance.choice(CHANGES)(content, words, examples, chance)
    return bytes(content[:MOST_BYTES])


Change = Callable[[bytearray, Sequence[str], Sequence[bytes], random.Random], None]


def _stretch(content: bytearray, chance: random.Random) -> slice:
    begin = chance.randrange(len(content) + 1)
    return slice(begin, begin + chance.choice([1, 2, 4, 8, 40, 400]))


def _bytes(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    content[_stretch(content, chance)] = chance.randbytes(chance.choice([0, 1, 1, 4, 8]))


def _bit(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _word(content: bytearray, words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(content) + 1)
    word = chance.choice(words).encode() if words else chance.randbytes(2)
    content[at : at + chance.choice([0, 0, 1, len(word)])] = word


def _number(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    """In place of a run of digits; text has those, and bytes seldom do."""
    digits = [at for at, byte in enumerate(content) if 48 <= byte < 58]
    if digits:
        at = end = chance.choice(digits)
        while end < len(content) and 48 <= content[end] < 58:
            end += 1
        content[at:end] = chance.choice(NUMBERS)


def _repeated(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    stretch = _stretch(content, chance)
    content[stretch.start : stretch.start] = content[stretch] * chance.choice([1, 1, 2, 50, 2000])
    del content[MOST_BYTES:]


def _exchanged(content: bytearray, _words: Sequence[str], examples: Sequence[bytes], chance: random.Random) -> None:
    other = chance.choice(examples)
    begin = chance.randrange(len(other) + 1)
    content[_stretch(content, chance)] = other[begin : begin + chance.choice([8, 40, 400])]


def _line(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    """A line elsewhere, or left out."""
    lines = content.split(b"\n")
    line = lines.pop(chance.randrange(len(lines)))
    if chance.random() < 0.5:
        lines.insert(chance.randrange(len(lines) + 1), line)
    content[:] = b"\n".join(lines)


def _cut_off(content: bytearray, _words: Sequence[str], _examples: Sequence[bytes], chance: random.Random) -> None:
    del content[chance.randrange(len(content) + 1) :]


CHANGES: list[Change] = [_bytes, _bytes, _bit, _bit, _word, _word, _number, _repeated, _exchanged, _line, _cut_off]
