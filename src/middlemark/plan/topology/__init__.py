"""Where applications are: hosts, networks and links as plain values, what goes wrong with them, and CPUs."""
