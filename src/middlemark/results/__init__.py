"""What is stored of a run: records, samples, the folder, and the only code that reads or writes it."""
