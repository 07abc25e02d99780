"""Claims: statements of a suite about metrics, which are judged by measurements."""
