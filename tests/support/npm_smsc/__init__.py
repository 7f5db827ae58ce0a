"""The npm package `smpp` as an SMSC, in a process of its own."""
