"""Measures each link and judges whether it is what was requested."""
