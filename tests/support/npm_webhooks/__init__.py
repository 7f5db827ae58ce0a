"""The public libraries of Standard Webhooks in JavaScript, as receivers use them."""
