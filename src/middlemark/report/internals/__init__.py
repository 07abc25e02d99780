"""What lies behind the figures: chains, the kernel, resources, the wire, configurations."""
