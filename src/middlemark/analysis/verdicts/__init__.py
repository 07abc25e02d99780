"""Whether one experiment is better than another, or above a bound: one difference, one judge, one ranking for all."""
