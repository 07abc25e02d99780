"""Statistics that know nothing of messages: quantiles, intervals, estimates, independence, variance."""
