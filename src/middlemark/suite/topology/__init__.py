"""Where applications sit: hosts, networks, links and what links do to frames."""
