"""What a person chooses in their in-app inbox: which messages they hear, and where."""
