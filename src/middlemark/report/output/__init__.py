"""Where a report goes: the page, the terminal, files for tools, papers and slides."""
