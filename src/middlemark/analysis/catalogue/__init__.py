"""Many runs: which there are, which of them are selected, and what they estimate; their index is renewed from the folders."""
