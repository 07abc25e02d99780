"""Many runs: which there are, which are selected, and what they estimate; their index is renewed from the folders."""
