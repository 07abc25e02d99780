"""The command line: one module per command, which parses, calls and prints, and is imported only when it runs."""
