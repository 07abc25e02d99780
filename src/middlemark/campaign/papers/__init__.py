"""Papers measured again: their suites planned with what there is here, what workers refuse of them, and their runs."""
