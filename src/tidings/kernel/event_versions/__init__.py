"""Two versions of an event side by side: the older one is made of the newer, for as long as somebody needs it."""
