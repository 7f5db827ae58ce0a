"""Requests to vendors over HTTP: the pool of connections, what answers mean, access tokens."""
