"""Local pages over many runs: the list, the history of a metric, two runs compared."""
