"""From finished games to standings: ratings, intervals, ranks, comparisons. Pure: numbers in, numbers out."""
