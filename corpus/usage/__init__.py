"""What models are used for, by whom and how much: the ledger, estimates before a run, and its cap."""
