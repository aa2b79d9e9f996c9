// A bot for Referee that plays any legal move. To make it yours, change choose.
package main

import (
	"context"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "allfours/v1"
)

func main() {
	address := os.Getenv("REFEREE_ADDRESS")
	if address == "" {
		log.Fatal("this is a bot: it plays when a referee starts it, as in: referee play . careful")
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+os.Getenv("REFEREE_TOKEN"))
	stream := must(pb.NewRefereeServiceClient(dial(address)).Play(ctx))
	// What is wrong with the stream is told by Recv, so the errors of Send may be dropped.
	_ = stream.Send(&pb.PlayRequest{Join: &pb.Join{Name: "random-go", Language: "go", MaxInFlight: proto.Uint32(64)}})
	for {
		response := must(stream.Recv())
		for _, ruling := range response.Rulings {
			log.Println(ruling.RuleId, ruling.Sentence)
		}
		if len(response.Turns) > 0 {
			answers := &pb.PlayRequest{}
			for _, turn := range response.Turns {
				answers.Moves = append(answers.Moves, choose(turn))
			}
			_ = stream.Send(answers)
		}
		if response.Farewell != nil {
			_ = stream.CloseSend()
			_, _ = stream.Recv() // the end of the stream
			return
		}
	}
}

// choose draws one of what is legal: only the options of the turn's kind are filled. Chance comes from the turn, so that
// a game can be played again.
func choose(turn *pb.Turn) *pb.Move {
	seed := uint64(turn.Deal)<<32 | uint64(turn.Decision)<<8 | uint64(turn.Retry)
	chance := rand.New(rand.NewPCG(turn.BotSeed, seed))
	options, move := turn.Options, &pb.Move{TurnId: turn.TurnId}
	switch {
	case len(options.Cards) > 0:
		move.Card = pick(options.Cards, chance)
	case len(options.Bids) > 0:
		move.Bid = pick(options.Bids, chance)
	case len(options.Suits) > 0:
		move.Suit = pick(options.Suits, chance)
	case len(options.Calls) > 0:
		move.Call = pick(options.Calls, chance)
	case options.Keep != nil:
		may := options.Keep.MayKeep
		chance.Shuffle(len(may), func(i, j int) { may[i], may[j] = may[j], may[i] })
		move.Kept = append(options.Keep.MustKeep, may...)[:options.Keep.Count]
	}
	return move
}

func pick[T any](choices []T, chance *rand.Rand) *T {
	return &choices[chance.IntN(len(choices))]
}

// dial prepares a connection to unix:/path, tcp:host:port or tls:host:port.
func dial(address string) *grpc.ClientConn {
	target, trust := strings.TrimPrefix(address, "tcp:"), insecure.NewCredentials()
	if host, encrypted := strings.CutPrefix(address, "tls:"); encrypted {
		target, trust = host, credentials.NewTLS(nil)
		if authority := os.Getenv("REFEREE_CA"); authority != "" {
			trust = must(credentials.NewClientTLSFromFile(authority, ""))
		}
	}
	return must(grpc.NewClient(target, grpc.WithTransportCredentials(trust)))
}

// must ends the bot when something cannot be done; the referee tells how it ended.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
