"""The release gate of the back office: a load like a busy region's, and what it has to stand up to."""
