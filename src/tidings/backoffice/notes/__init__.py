"""Notes of operators: cut, sealed, read by a data steward, redacted."""
