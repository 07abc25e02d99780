"""Where trials happen: hosts, slots that keep trials apart, the machine's state, and the ledger of all that is created.

It starts no worker and knows no trial; `campaign` puts the two together.
"""
