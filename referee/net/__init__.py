"""Bots on the wire: the gRPC server, each bot's connection and its clock, and their supervision."""
