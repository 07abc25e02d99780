"""The hosts of a test-bed: this machine, namespaces, containers, machines reached by SSH; their limits and clocks."""
