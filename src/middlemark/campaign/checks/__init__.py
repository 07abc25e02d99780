"""What is checked before anything runs: that names exist, and what cannot be measured here."""
