"""What every page that we serve has in common: its headers, and the server that sends it."""
