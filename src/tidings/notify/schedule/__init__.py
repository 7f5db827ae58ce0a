"""Work with a due time: notifications that wait, and orders that are planned and have no notification yet."""
