"""What a link does to frames, from one model to two backends: the kernel's netem, or the relay of `observers/`.

A rate is the kernel's token bucket filter with both. It renders and runs what one link needs; `switch` says which
interfaces there are, `probe` measures what came of it.
"""
