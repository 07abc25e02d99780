"""Wi-Fi by distance: where a host is → how much signal is left → modulation, rate, loss and delay of its link.

A model, not a radio: one host on a channel of its own, no fading about the mean, no other station; every value has its
source beside it, and `docs/guide/mobility.md` says what follows from them. `topology` makes a link's trace of it.
"""

from dataclasses import dataclass
from functools import cache
from math import exp, log, log10, pi

from middlemark.plan.topology.network import TracePoint
from middlemark.suite import Direction, Mobility, PathLoss

STEP_NS = 100_000_000
"""Between two points of a trace: 1.5 m at the highest speed of the industrial evaluation of 2025."""

# IEEE 802.11n-2009, one spatial stream in 20 MHz with the guard interval of 800 ns: rates of MCS 0 to 7 (20.6), and the
# least power at which a receiver has to manage each (Table 20-22).
MODULATIONS = (
    (6_500_000, -82.0),
    (13_000_000, -79.0),
    (19_500_000, -77.0),
    (26_000_000, -74.0),
    (39_000_000, -70.0),
    (52_000_000, -66.0),
    (58_500_000, -65.0),
    (65_000_000, -64.0),
)
# There at most one of ten frames of 4096 B may be lost, says the same clause; as errors of single, independent bits:
_BIT_ERRORS_AT_SENSITIVITY = -log(1 - 0.10) / (8 * 4096)
# An assumption: coded OFDM without fading gains a decade of errors with about 1 dB.
_DECIBELS_PER_DECADE = 1.0

# Channel 6, the middle of the band at 2.4 GHz.
_FREQUENCY_HZ = 2.437e9
_LIGHT_M_PER_S = 299_792_458.0
# The evaluation's own set-up, antennas and cables, took 12 dB; with its ramp of 80 dB that is its 92 dB at 400 m.
RAMP_BEGINS_DB = 12.0

# A packet of 1500 B with its MAC header for QoS (26 B), LLC and SNAP (8 B) and checksum (4 B).
_FRAME_BITS = 8 * (1500 + 26 + 8 + 4)
# Attempts before a frame is given up: dot11ShortRetryLimit is 7.
_ATTEMPTS = 7
# OFDM in the band at 2.4 GHz with short slots: slot 9 µs, SIFS 10 µs, DIFS = SIFS + 2 slots, CWmin 15, CWmax 1023.
_SLOT_NS = 9_000
_SIFS_NS = 10_000
_DIFS_NS = _SIFS_NS + 2 * _SLOT_NS
_LEAST_WINDOW, _MOST_WINDOW = 15, 1023
# The mixed-format preamble of one stream (20 + 8 + 4 + 4 µs); an ACK of 14 B at 6 Mbit/s (20 µs + 6 symbols of 4 µs).
_PREAMBLE_NS = 36_000
_ACK_NS = 44_000


@dataclass(frozen=True)
class Channel:
    """What a received power comes to."""

    rate_bits_per_s: int
    frame_errors: float
    """Of single attempts."""
    loss: float
    """After all attempts."""
    delay_ns: int
    """Beside the frame's own time on the air: waiting for the channel, acknowledgement, further attempts."""
    jitter_ns: int

    @property
    def goodput_bits_per_s(self) -> float:
        """What single attempts bring across."""
        return self.rate_bits_per_s * (1 - self.frame_errors)


def distance_m(mobility: Mobility, at_ns: int) -> float:
    """Where the host is, from its access point, at an instant of the window."""
    if mobility.farthest is None or mobility.speed is None:
        return mobility.distance or 0.0
    span_m = mobility.farthest - mobility.nearest
    gone_m = max(0, at_ns) / 1e9 * mobility.speed
    if mobility.rounds is not None and gone_m >= 2 * span_m * mobility.rounds:
        return mobility.nearest
    return mobility.nearest + span_m - abs(span_m - gone_m % (2 * span_m))


def path_loss_db(mobility: Mobility, distance: float) -> float:
    """What is lost of the signal on its way."""
    if mobility.path_loss is PathLoss.RAMP:
        return RAMP_BEGINS_DB + mobility.ramp * distance / (mobility.farthest or distance)
    # Free space up to 1 m (Friis), the log-distance law from there on (Rappaport, Wireless Communications, 4.9).
    at_one_meter = 20 * log10(4 * pi * _FREQUENCY_HZ / _LIGHT_M_PER_S)
    return at_one_meter + 10 * mobility.exponent * log10(max(distance, 1.0))


def received_dbm(mobility: Mobility, distance: float) -> float:
    """The power at the receiver."""
    return mobility.transmit_power - path_loss_db(mobility, distance)


def channel(power_dbm: float) -> Channel:
    """The link at a received power, in the modulation that brings most across, as rate adaptation strives for."""
    return max((_channel(*modulation, power_dbm) for modulation in MODULATIONS), key=_brought_across)


@cache
def trace_of(mobility: Mobility, outgoing: Direction, incoming: Direction, lasting_ns: int) -> tuple[TracePoint, ...]:
    """What the link does until then beside what is requested of each direction; a point where something changes."""
    points: list[TracePoint] = []
    for at_ns in range(0, lasting_ns, STEP_NS) if mobility.distance is None else (0,):
        directions = [direction_at(mobility, requested, at_ns) for requested in (outgoing, incoming)]
        if not points or [points[-1].outgoing, points[-1].incoming] != directions:
            points.append(TracePoint(at_ns=at_ns, outgoing=directions[0], incoming=directions[1]))
    return tuple(points)


def direction_at(mobility: Mobility, requested: Direction, at_ns: int) -> Direction:
    """One direction of the link at an instant."""
    now = channel(received_dbm(mobility, distance_m(mobility, at_ns)))
    values = {
        "rate_bits_per_s": now.rate_bits_per_s,
        # A loss of less than one in a million and parts of 10 µs are below what an emulated link holds.
        "loss": round(now.loss, 6),
        "delay_ns": round(now.delay_ns, -4),
        "jitter_ns": round(now.jitter_ns, -4),
    }
    return requested.model_copy(update=values)


def _channel(rate_bits_per_s: int, sensitivity_dbm: float, power_dbm: float) -> Channel:
    decades = (power_dbm - sensitivity_dbm) / _DECIBELS_PER_DECADE
    bit_errors = min(1.0, _BIT_ERRORS_AT_SENSITIVITY * 10 ** min(-decades, 12))
    frame_errors = 1 - exp(-bit_errors * _FRAME_BITS)
    retrying_ns = _retrying_ns(rate_bits_per_s, frame_errors)
    waiting_ns = _backoff_ns(0)
    return Channel(
        rate_bits_per_s=rate_bits_per_s,
        frame_errors=frame_errors,
        loss=frame_errors**_ATTEMPTS,
        delay_ns=round(_DIFS_NS + waiting_ns + _PREAMBLE_NS + _SIFS_NS + _ACK_NS + retrying_ns),
        jitter_ns=round(waiting_ns + retrying_ns),
    )


def _brought_across(candidate: Channel) -> tuple[float, int]:
    """Out of all range the slowest modulation, which is where rate adaptation ends."""
    return candidate.goodput_bits_per_s, -candidate.rate_bits_per_s


def _retrying_ns(rate_bits_per_s: int, frame_errors: float) -> float:
    """The mean time of the attempts before the one that a delivered frame came with."""
    attempt_ns = _DIFS_NS + _PREAMBLE_NS + _FRAME_BITS / rate_bits_per_s * 1e9 + _SIFS_NS + _ACK_NS
    shares = [frame_errors**number for number in range(_ATTEMPTS)]
    spent_ns = [sum(attempt_ns + _backoff_ns(retry) for retry in range(1, number + 1)) for number in range(_ATTEMPTS)]
    return sum(share * spent for share, spent in zip(shares, spent_ns, strict=True)) / sum(shares)


def _backoff_ns(retry: int) -> float:
    """The mean wait for the channel: half the contention window, which doubles with each retry."""
    slots = min((_LEAST_WINDOW + 1 << retry) - 1, _MOST_WINDOW)
    return slots / 2 * _SLOT_NS
