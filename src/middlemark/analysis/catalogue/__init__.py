"""Many runs: which there are, which of them are meant, and what they estimate, by an index that folders can renew."""
