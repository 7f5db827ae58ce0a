"""What people prove themselves with: passwords, codes, links and cookies; no I/O but the key that hashes them."""
