"""The activity ledger: one row for every request of an operator, those that were refused too."""
