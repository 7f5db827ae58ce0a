"""What upstream services answer and take, version 1: `docs/upstreams.md` is the same for people.

Structs are decoded strictly: a wrong type, a missing field or a word that is none of ours makes the whole answer unusable. Fields
that we do not know are ignored.
"""
