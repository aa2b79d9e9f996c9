"""Referee: tournaments and rules conformance for the All Fours family of card games."""

__version__ = "0.2.0"
