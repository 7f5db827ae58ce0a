"""What vendors' callbacks share: bodies, signatures, timestamps."""
