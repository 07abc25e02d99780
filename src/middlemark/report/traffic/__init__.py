"""What messages did: rates, distributions, time series, links, faults, capacity, scaling."""
