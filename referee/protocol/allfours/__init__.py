"""Generated from the protos: do not edit."""
