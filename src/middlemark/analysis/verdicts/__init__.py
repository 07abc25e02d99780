"""Whether one side is better than another, or beyond a bound: one difference, one verdict, one ranking for all."""
