"""The back office: operators who sign in, their sessions, and the web console."""
