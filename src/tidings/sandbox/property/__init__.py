"""A stand-in for the upstream services of the back office: three hotels and a school whose days follow from a seed and a clock."""
