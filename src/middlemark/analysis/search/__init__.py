"""Searches: the next load of a capacity search, its result, and when enough trials were run."""
