"""What a reader concludes: the answer, rankings, comparisons, claims, recommendations, warnings."""
