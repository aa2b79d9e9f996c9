"""A tournament as a person writes it: TOML files, what stands in them, and errors that name file, field and remedy."""
