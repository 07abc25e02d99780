"""Statements about metrics that a suite makes and measurements decide."""
