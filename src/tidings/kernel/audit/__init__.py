"""Who changed what, in chains that can't be altered unseen."""
