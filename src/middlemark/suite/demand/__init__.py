"""An application as its author sees it: what it sends, what it asks for, and what it requires of both."""
