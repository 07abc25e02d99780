"""The command line, one file a command: parse, call, print; no logic.

A command's module imports what it needs when it runs, so that help and completion come at once.
"""
