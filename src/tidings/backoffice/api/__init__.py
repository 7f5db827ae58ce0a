"""`/bff/v1`: what the web console, and whoever builds another one, calls as an operator."""
