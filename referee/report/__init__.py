"""The report of a league and the replay of a game: for people, in one file that can be mailed."""

from referee.report.csv_tables import csv_table
from referee.report.html_report import render_report, write_replay, write_report
from referee.report.markdown import markdown
from referee.report.report_data import collect

__all__ = ["collect", "csv_table", "markdown", "render_report", "write_replay", "write_report"]
