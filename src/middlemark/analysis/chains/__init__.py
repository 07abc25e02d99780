"""Chains of nodes: followed from their first message to their last, and their metrics."""
