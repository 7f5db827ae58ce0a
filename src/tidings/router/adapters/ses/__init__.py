"""Amazon SES, with its events over SNS."""
