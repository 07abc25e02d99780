"""What all trials of one experiment come to."""
