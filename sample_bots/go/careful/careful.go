package main

import (
	"cmp"
	"slices"

	pb "allfours/v1"
)

// An event of the history is kind << 16 | seat << 8 | card.
const play, show = uint32(pb.EventKind_EVENT_KIND_PLAY), uint32(pb.EventKind_EVENT_KIND_SHOW)

// One point, and certainty. All is worked out in whole numbers, so that this bot decides the same in every language.
const one = 1_000_000

// Of some 30 pips in play about half decide the point for Game.
const pip = one / 25

// By how much the promise may fall short of a bid: a bid also takes the lead away from others.
var daring = map[int32]int{2: 300_000, 3: 400_000, 4: 400_000}

// position is a turn together with the rules that it is played by.
type position struct {
	*pb.Turn
	rules *pb.RuleSet
}

// choose is the move for any turn of any variant: only the options of the turn's kind are filled.
func choose(p position) *pb.Move {
	options, move := p.Options, &pb.Move{TurnId: p.TurnId}
	switch {
	case len(options.Bids) > 0:
		move.Bid = p.bid()
	case len(options.Cards) > 0:
		move.Card = best(options.Cards, p.balance).Enum()
	case len(options.Suits) > 0:
		move.Suit = best(options.Suits, p.promise).Enum()
	case len(options.Calls) > 0: // the first accepts the suit turned up, the last refuses it
		move.Call = &options.Calls[len(options.Calls)-1]
		if p.TurnUp != pb.Card_CARD_UNSPECIFIED && p.promise(suit(p.TurnUp)) >= one {
			move.Call = &options.Calls[0]
		}
	case options.Keep != nil:
		move.Kept = p.keep(options.Keep)
	}
	return move
}

// bid is the lowest bid that the best suit promises, else the least that may be said.
func (p position) bid() *int32 {
	promised := 0
	for trump := pb.Suit_SUIT_CLUBS; trump <= pb.Suit_SUIT_SPADES; trump++ {
		promised = max(promised, p.promise(trump))
	}
	good := func(bid int32) bool { return bid > 0 && promised+daring[bid] >= one*int(bid) }
	return &p.Options.Bids[max(0, slices.IndexFunc(p.Options.Bids, good))]
}

// promise is the points to be expected with this suit as trump, item by item.
func (p position) promise(trump pb.Suit) int {
	hand := setOf(p.Hand)
	trumps := hand & p.trumps(trump)
	if trumps == 0 {
		return 0
	}
	if p.rules.Scoring == pb.Scoring_SCORING_POINTS {
		points := 500_000 * trumps.count()
		for _, row := range p.rules.PointCards {
			points += 600_000 * int(row.Points) * (trumps & ofRank(int(row.Rank))).count()
		}
		return points
	}
	low, top := rank(trumps.lowest()), rank(trumps.highest())
	// A card that we do not see is held by another player with this chance; the rest of the pack is out of play.
	out := min(one, one*len(p.Hand)*(int(p.Seats)-1)/(52-len(p.Hand)))
	jack := 0
	switch holds := trumps&ofRank(11) != 0; {
	case holds && top > 11:
		jack = 900_000
	case holds:
		jack = 600_000
	case top > 11:
		jack = out * 2 / 5
	}
	tens, honours := hand&ofRank(10), hand&(ofRank(11)|ofRank(12)|ofRank(13)|ofRank(14))
	game := min(900_000, 100_000*(1+trumps.count()+tens.count())+50_000*honours.count())
	return power(one-out, 14-top) + power(one-out, low-2) + jack + game
}

// balance is what playing this card is worth, to be compared with that of other cards only.
func (p position) balance(card pb.Card) int {
	trump := p.Trump
	if trump == pb.Suit_SUIT_UNSPECIFIED {
		trump = suit(card)
		if len(p.Trick) == 0 {
			return p.promise(trump) + p.firstLead(card)
		}
	}
	// What lies on the table, and what the seats that have yet to play may bring: more to a trump lead.
	table := 50_000 * p.later()
	if suit(card) == trump && len(p.Trick) == 0 {
		table = 150_000 * p.later()
	}
	for _, other := range p.Trick {
		table += p.worth(other, trump)
	}
	// What it costs not to have the card any more: trumps and high cards win later tricks.
	price := 4_000 * rank(card)
	if p.trumps(trump).has(card) {
		price = 100_000 + 30_000*rank(card)
	}
	won, own := p.chanceOfTrick(card, trump), p.worth(card, trump)
	return won*(table+own) - (one-won)*own - one*price
}

// firstLead picks the card of the best suit: the ace or king; without them a low one, for a queen or jack would fall.
func (p position) firstLead(card pb.Card) int {
	if setOf(p.Hand)&ofSuit(suit(card))&(ofRank(13)|ofRank(14)) != 0 {
		return 1_000 * rank(card)
	}
	return -1_000*rank(card) - 10_000*pips[rank(card)]
}

// chanceOfTrick is the chance that our side wins the trick if we play this card.
func (p position) chanceOfTrick(card pb.Card, trump pb.Suit) int {
	winning := card
	if len(p.Trick) > 0 {
		if lies := best(p.Trick, p.strength); p.strength(lies) >= p.strength(card) {
			if !p.isOurs(lies) {
				return 0
			}
			winning = lies
		}
	}
	unseen := p.unseen()
	higher, ruffs := (unseen&ofSuit(suit(winning)))>>winning, unseen&p.trumps(trump)
	if suit(winning) == trump {
		ruffs = 0
	}
	// Each seat to come holds this share of the unseen cards; who can trump does so half of the time.
	share := min(one, one*len(p.Hand)/max(1, unseen.count()))
	return power(power(one-share, higher.count())*power(one-share/2, ruffs.count())/one, p.later())
}

// isOurs says whether a partner has played this card.
func (p position) isOurs(card pb.Card) bool {
	return p.Sides > 0 && slices.ContainsFunc(p.History, func(event uint32) bool {
		seat := event >> 8 & 255
		return event>>16 == play && event&255 == uint32(card) && seat%p.Sides == p.Seat%p.Sides
	})
}

// worth is what a card brings to the side that wins it.
func (p position) worth(card pb.Card, trump pb.Suit) int {
	isTrump := p.trumps(trump).has(card)
	if p.rules.Scoring == pb.Scoring_SCORING_POINTS {
		for _, row := range p.rules.PointCards {
			if isTrump && int(row.Rank) == rank(card) {
				return one * int(row.Points)
			}
		}
		return 0
	}
	value := pip * pips[rank(card)]
	if isTrump && (rank(card) == 11 || rank(card) < 5 && p.rules.LowTo == pb.LowTo_LOW_TO_TAKER) {
		value += one
	}
	return value
}

// keep is the cards that have to be kept, then trumps, then the highest.
func (p position) keep(ways *pb.Keep) []pb.Card {
	trumps := p.trumps(max(p.Trump, pb.Suit_SUIT_CLUBS))
	value := func(card pb.Card) int { return 16*int(trumps>>card&1) + rank(card) }
	slices.SortStableFunc(ways.MayKeep, func(a, b pb.Card) int { return value(b) - value(a) })
	return append(ways.MustKeep, ways.MayKeep...)[:ways.Count]
}

// strength orders cards by who wins the trick on the table: trumps above the suit led above all others.
func (p position) strength(card pb.Card) int {
	led := suit(p.Trick[0])
	switch trump := cmp.Or(p.Trump, led); {
	case suit(card) == trump:
		return 64 + 2*rank(card)
	case p.trumps(trump).has(card):
		return 63 + 2*rank(card)
	case suit(card) == led:
		return rank(card)
	}
	return 0
}

// later is how many seats have yet to play to the trick after us.
func (p position) later() int { return int(p.Seats) - len(p.Trick) - 1 }

// trumps is all trumps when this suit is: the left pedro of Cinch is one too.
func (p position) trumps(trump pb.Suit) cards {
	if p.rules.LeftPedro {
		return ofSuit(trump) | ofSuit(5-trump)&ofRank(5)
	}
	return ofSuit(trump)
}

// unseen is the cards that nobody has shown us.
func (p position) unseen() cards {
	shown := setOf(p.Hand) | setOf(p.Discards)
	for _, event := range p.History {
		if kind := event >> 16; kind == play || kind == show {
			shown |= 1 << (event & 255)
		}
	}
	return pack &^ shown
}
