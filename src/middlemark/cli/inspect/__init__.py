"""Commands that only show: workers, suites, topologies, the machine, and what killed runs left."""
