"""What Tidings reaches, as ratios to the limits of the same machine in the same run."""
