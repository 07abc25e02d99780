"""One trial: its environment, its processes, its lifecycle, and the record that is stored of it."""
