"""Bots as they enter: found, built, fingerprinted, entered; and new ones from the samples."""
