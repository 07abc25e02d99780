"""The networks and links between hosts, what shapes them, and how each is measured and judged."""
