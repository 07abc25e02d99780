"""The commands that measure: a suite, a paper, an application, Middlemark itself; here or on a fleet."""
