"""The samples and counts of one stream, drawn from a `Behaviour`: what its publishers sent and its subscribers got."""

from __future__ import annotations

import numpy as np
import polars as pl

from behaviour import BEGIN_NS, Behaviour
from middlemark.plan import Stream, Trial
from middlemark.results.counts import PublisherCounts, SubscriberCounts
from middlemark.results.tables import PUBLISHED_SCHEMA, RECEIVED_SCHEMA

Rows = tuple[pl.DataFrame, pl.DataFrame, tuple[PublisherCounts, ...], tuple[SubscriberCounts, ...]]


def stream_rows(trial: Trial, number: int, stream: Stream, how: Behaviour, rng: np.random.Generator) -> Rows:
    window_ns = trial.experiment.windows.window_ns
    asks = stream.pattern.has_answers
    received, published, publishers, subscribers = [], [], [], []
    joined = set(stream.pairs())
    for publisher, application in enumerate(stream.publishers):
        intended = _schedule(stream, window_ns, how)
        n = len(intended)
        sent = _sends(intended, how, rng) + (how.fill_ns or 0)
        returned = sent + _scatter(how.publish_call_ns, how, n, rng)
        published.append(_published(application, (number, publisher), (intended, sent, returned), how.fill_ns))
        publishers.append(
            PublisherCounts(
                stream=stream.name,
                publisher=publisher,
                intended=n,
                sent=n,
                refused=0,
                refusal=None,
                last_returned_ns=int(returned[-1]),
            )
        )
        for subscriber, at in enumerate(stream.subscribers):
            if (publisher, subscriber) not in joined:
                continue
            kept = rng.random(n) >= how.loss
            latency_ns = how.latency_ns * how.course(np.arange(n) / n)
            arrived = sent + _scatter(latency_ns, how, n, rng)
            for answers in (False, True) if asks else (False,):
                answered = arrived + (how.fill_ns or 0)
                back = answered + _scatter(latency_ns, how, n, rng) if answers else arrived
                base = (sent if answers else intended) + (how.fill_ns or 0)
                received.append(
                    _received(
                        application if answers else at,
                        (number, int(answers), publisher, subscriber),
                        np.flatnonzero(kept),
                        (base[kept], (answered if answers else sent)[kept], back[kept]),
                    )
                )
                subscribers.append(_subscriber_counts((stream.name, answers, publisher, subscriber), int(kept.sum())))
    return pl.concat(received), pl.concat(published), tuple(publishers), tuple(subscribers)


def _schedule(stream: Stream, window_ns: int, how: Behaviour) -> np.ndarray:
    pattern = stream.pattern
    if pattern.kind in {"periodic", "open_requests"}:
        return BEGIN_NS + np.arange(0, window_ns, int(1e9 / pattern.rate_hz))
    if pattern.kind == "burst":
        return BEGIN_NS + np.repeat(np.arange(0, window_ns, int(1e9 / pattern.rate_hz)), pattern.messages)
    step = 2.2 * how.latency_ns if pattern.kind == "ping_pong" else how.publish_call_ns
    return BEGIN_NS + np.arange(0, window_ns, int(step) + 1)


def _sends(intended: np.ndarray, how: Behaviour, rng: np.random.Generator) -> np.ndarray:
    late = np.abs(rng.normal(3_000, 1_000, len(intended))).astype(np.int64)
    stretched = BEGIN_NS + ((intended - BEGIN_NS) * how.slow_publisher).astype(np.int64)
    return stretched + late


def _scatter(median_ns: float | np.ndarray, how: Behaviour, n: int, rng: np.random.Generator) -> np.ndarray:
    return (median_ns * np.exp(rng.normal(0, how.spread, n))).astype(np.int64)


def _published(
    application: str, who: tuple[int, int], instants: tuple[np.ndarray, ...], fill_ns: int | None
) -> pl.DataFrame:
    n = len(instants[0])
    columns: dict[str, object] = {"application": [application] * n, "sequence": np.arange(n)}
    columns |= dict(zip(("stream", "publisher"), (np.full(n, x) for x in who), strict=True))
    columns |= dict(zip(("intended_ns", "sent_ns", "returned_ns"), instants, strict=True))
    columns |= {"fill_ns": [fill_ns] * n, "serialise_ns": [None] * n, "accepted": np.ones(n, dtype=np.int64)}
    return pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in PUBLISHED_SCHEMA.items())


def _received(
    application: str, flow: tuple[int, int, int, int], sequence: np.ndarray, instants: tuple[np.ndarray, ...]
) -> pl.DataFrame:
    n = len(sequence)
    columns: dict[str, object] = {"application": [application] * n}
    columns |= dict(zip(("stream", "answer", "publisher", "subscriber"), (np.full(n, x) for x in flow), strict=True))
    columns |= {"sequence": sequence, "deserialise_ns": [None] * n}
    columns |= dict(zip(("intended_ns", "sent_ns", "received_ns"), instants, strict=True))
    return pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in RECEIVED_SCHEMA.items())


def _subscriber_counts(flow: tuple[str, bool, int, int], received: int) -> SubscriberCounts:
    stream, answers, publisher, subscriber = flow
    return SubscriberCounts(
        stream=stream,
        answers=answers,
        publisher=publisher,
        subscriber=subscriber,
        received=received,
        late=0,
        duplicates=0,
        reordered=0,
        corrupt=0,
        foreign=0,
        negative=0,
        beyond_samples=0,
    )
