"""Deals, rulings, scores, ratings and standings of a whole league once more, by the second rules engine."""
