"""What is watched from outside during a trial: traffic, resources, the kernel."""
