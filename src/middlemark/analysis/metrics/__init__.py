"""The metrics of one trial, from its samples and counts, and its chains of nodes."""
