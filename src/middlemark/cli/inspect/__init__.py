"""Commands that show what is there: workers, suites, topologies, the machine, what killed runs left."""
