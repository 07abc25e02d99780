"""What all parts of a report are built from: formatted numbers, labels, tables, charts, drawings."""
