"""Who meets whom, in which seats, with which packs: schedules and the designs behind them. Pure."""
