"""Tournaments: the definition, the entrants, the schedule, and what is run, rated and shown from them."""
