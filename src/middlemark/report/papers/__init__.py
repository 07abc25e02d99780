"""A reproduced paper for people: its findings with their verdicts, and its values beside ours."""
