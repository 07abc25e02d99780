"""Where applications run: hosts, networks, links, and the effects of links on frames."""
