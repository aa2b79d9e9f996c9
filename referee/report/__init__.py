"""The report of a league and the replay of a game: for people, in one file that can be mailed."""

from referee.report.page import render_report, write_replay, write_report

__all__ = ["render_report", "write_replay", "write_report"]
