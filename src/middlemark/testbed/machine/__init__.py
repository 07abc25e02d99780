"""What this machine is, whether it is fit to measure on, and keeping its CPUs awake or busy."""
