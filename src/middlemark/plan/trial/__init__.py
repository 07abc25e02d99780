"""One trial: as it is planned, how long it takes, how it ended."""
