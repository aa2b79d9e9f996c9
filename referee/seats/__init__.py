"""How a player gets to a table: in process, by a stream it dials in, from a script, or from a record."""
