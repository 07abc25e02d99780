"""How trials happen: the life of one trial, the order of a campaign, and a store that survives a kill.

It decides no statistics and prints nothing: `analysis` computes, `report` shows; below it are `testbed` and `worker`.
"""
