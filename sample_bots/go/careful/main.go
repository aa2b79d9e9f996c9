// A bot for Referee with sound play by rules of thumb. Here is how it talks; what it decides is in careful.go.
package main

import (
	"context"
	"log"
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
	_ = stream.Send(&pb.PlayRequest{Join: &pb.Join{Name: "careful-go", Language: "go", MaxInFlight: proto.Uint32(64)}})
	rules := map[uint32]*pb.RuleSet{}
	for {
		response := must(stream.Recv())
		for _, set := range response.GetJoined().GetRuleSets() {
			rules[set.RuleSetId] = set
		}
		for _, ruling := range response.Rulings {
			log.Println(ruling.RuleId, ruling.Sentence)
		}
		if len(response.Turns) > 0 {
			answers := &pb.PlayRequest{}
			for _, turn := range response.Turns {
				answers.Moves = append(answers.Moves, choose(position{turn, rules[turn.RuleSetId]}))
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
