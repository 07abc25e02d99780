"""Capacity searches and stopping rules: the next load, the result of a search, and when there are trials enough."""
