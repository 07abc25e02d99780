"""One trial: its environment, its processes, its life, and the record that is stored of it."""
