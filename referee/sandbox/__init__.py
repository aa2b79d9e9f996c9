"""Processes of bots: started, confined, measured, and ended with all that they started."""
