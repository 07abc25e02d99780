"""What is compared with what: experiments, runs, settings, sizes."""
