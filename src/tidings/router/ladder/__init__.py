"""Which step next, and when: state in, decision out, nothing else."""
