"""One game: the umpire, what it says, what a seat may see, what can go wrong, and the record. Pure."""
