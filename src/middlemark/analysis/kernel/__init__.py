"""Where the time of a message goes within the kernel, from a recording of its events."""
