"""What a run says, for people: the page, the terminal, the live view and files; nothing is estimated here."""
