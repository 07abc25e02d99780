"""What each peer is called with, and how what it prints is read; a module for the tools of one origin."""
