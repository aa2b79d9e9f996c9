package main

import (
	"math/bits"
	"slices"

	pb "allfours/v1"
)

// cards is a set of cards: bit 1 << card is set for each.
type cards uint64

const pack cards = 0x7ffc_7ffc_7ffc_7ffc

// pips is what a card of each rank counts for Game.
var pips = [16]int{10: 10, 11: 1, 12: 2, 13: 3, 14: 4}

func rank(card pb.Card) int     { return int(card & 15) }
func suit(card pb.Card) pb.Suit { return pb.Suit(card>>4 + 1) }
func ofRank(rank int) cards     { return 0x0001_0001_0001_0001 << rank }
func ofSuit(suit pb.Suit) cards { return 0x7ffc << (16 * (suit - 1)) }

func (set cards) has(card pb.Card) bool { return set>>card&1 == 1 }
func (set cards) count() int            { return bits.OnesCount64(uint64(set)) }
func (set cards) lowest() pb.Card       { return pb.Card(bits.TrailingZeros64(uint64(set))) }
func (set cards) highest() pb.Card      { return pb.Card(bits.Len64(uint64(set)) - 1) }

func setOf(list []pb.Card) (set cards) {
	for _, card := range list {
		set |= 1 << card
	}
	return set
}

// best is the first of the choices with the highest value.
func best[T any](choices []T, value func(T) int) T {
	return slices.MaxFunc(choices, func(a, b T) int { return value(a) - value(b) })
}

// power is the chance that something of this chance happens so many times in a row, each product rounded down.
func power(chance, times int) int {
	product := one
	for range times {
		product = product * chance / one
	}
	return product
}
