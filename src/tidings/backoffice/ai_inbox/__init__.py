"""The inbox of what an AI suggests: people accept, reject or change it, and the ledger keeps who and why."""
