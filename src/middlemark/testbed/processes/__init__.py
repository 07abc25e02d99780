"""What is started or created on a machine, entered in the ledger, and removed again."""
