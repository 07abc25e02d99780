"""What observes a trial from outside: its traffic, its resources, the kernel."""
