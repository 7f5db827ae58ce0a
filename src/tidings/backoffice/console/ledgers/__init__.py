"""Pages of what operators left behind: the activity ledger, its exports, notes."""
