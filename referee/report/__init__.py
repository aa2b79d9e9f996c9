"""The report of a league and the replay of a game: for people, in one file that can be mailed."""

from referee.report.facts import gather
from referee.report.markdown import markdown
from referee.report.page import render_report, write_replay, write_report
from referee.report.tables import csv_table

__all__ = ["csv_table", "gather", "markdown", "render_report", "write_replay", "write_report"]
