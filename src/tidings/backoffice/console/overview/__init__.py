"""The first page: what was sent and how it went, what needs somebody, and first steps where nothing was sent yet."""
