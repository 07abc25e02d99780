"""The results of one experiment, from all its trials."""
