"""The report of a league and the replay of a game: for people, in one file that can be mailed."""
