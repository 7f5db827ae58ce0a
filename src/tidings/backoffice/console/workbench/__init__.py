"""The workbench: what goes on in a property, as boards that stay up to date while somebody looks."""
