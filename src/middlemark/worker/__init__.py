"""Finds, starts, speaks to and stops worker processes; knows a middleware by its name only.

It does not know what a trial is: `campaign` says what to start and what to wait for, `testbed` says where.
"""
