"""A ladder on the network: owners hand bots in, jobs build and check them, an engine plays the rounds, a site shows it all."""
