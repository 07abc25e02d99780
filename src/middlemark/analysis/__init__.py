"""Samples to metrics, metrics to statistics, statistics to verdicts: pure functions, each statistic with its source."""
