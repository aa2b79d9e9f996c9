"""The rules-conformance harness: which rule does a bot break, in which position, and what would have been legal.

The rules are judged by the umpire itself (``referee.umpire.umpire``), as in play. What the harness adds is situations and
counting: ``position`` states a decision in the middle of a deal, ``cases`` reads positions written down as data,
``sample`` finds varied ones by chance, ``opportunity`` says which clauses could be broken in one, ``runner`` puts them
to a bot, ``tally`` counts, ``verdict`` concludes.
"""
