"""What people write: taken in, given to the tenant that it is for, kept as a conversation, answered."""
