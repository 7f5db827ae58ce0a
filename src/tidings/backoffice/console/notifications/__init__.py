"""The notification explorer: find one by what somebody says on the telephone, and see why it did or did not arrive."""
