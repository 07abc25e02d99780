"""What lies behind the metrics: chains, the kernel, resources, the wire, configurations."""
