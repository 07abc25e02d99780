"""The synthetic middleware's formula once more, written from its documentation: what must come of each message."""

import math
from dataclasses import dataclass

GAMMA = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1
MILLION = 1_000_000


@dataclass(frozen=True)
class Program:
    distribution: str = "fixed"
    seed: int = 0
    delay_ns: int = 0
    jitter_ns: int = 0
    second_mode_per_million: int = 0
    loss_per_million: int = 0
    duplicate_per_million: int = 0
    reorder_per_million: int = 0
    reorder_delay_ns: int = 0
    first_message_ns: int = 0
    first_full_message_ns: int = 0


@dataclass(frozen=True)
class Fate:
    lost: bool
    duplicated: bool
    delay_ns: int


def mix(bits: int) -> int:
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & WORD
    return bits ^ (bits >> 31)


@dataclass
class Draws:
    state: int

    def next(self) -> int:
        self.state = (self.state + GAMMA) & WORD
        return mix(self.state)

    def happens(self, per_million: int) -> bool:
        return self.next() % MILLION < per_million

    def unit(self) -> float:
        return (self.next() >> 11) / (1 << 53)

    def normal(self) -> float:
        while True:
            radius = math.sqrt(-2 * math.log(1 - self.unit()))
            drawn = radius * math.cos(math.tau * self.unit())
            if abs(drawn) <= 3:
                return drawn


def fate(program: Program, sequence: int) -> Fate:
    """Of a message of the first stream, from its only publisher to its only subscriber."""
    draws = Draws(mix((program.seed + GAMMA) & WORD) ^ sequence)
    lost = draws.happens(program.loss_per_million)
    duplicated = draws.happens(program.duplicate_per_million)
    held_ns = program.reorder_delay_ns if draws.happens(program.reorder_per_million) else 0
    return Fate(lost, duplicated, max(0, program.delay_ns + beyond_ns(program, draws) + held_ns))


def beyond_ns(program: Program, draws: Draws) -> int:
    match program.distribution:
        case "uniform":
            return math.floor(draws.unit() * program.jitter_ns)
        case "normal":
            return round(draws.normal() * program.jitter_ns)
        case "exponential":
            return round(-math.log(1 - draws.unit()) * program.jitter_ns)
        case "bimodal":
            return program.jitter_ns if draws.happens(program.second_mode_per_million) else 0
        case _:
            return 0
