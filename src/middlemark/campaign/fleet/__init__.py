"""A campaign over many test-beds: blocks are handed out by Dask, and come back whole or not at all."""
