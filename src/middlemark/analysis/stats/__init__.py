"""Statistics that know nothing of messages: quantiles, intervals, estimates, shapes of distributions."""
