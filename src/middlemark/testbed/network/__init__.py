"""The networks and links between hosts, and what shapes them."""
