"""A league as it is played: legs, workers, and where finished games go."""
