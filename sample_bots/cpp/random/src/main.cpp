// A bot that plays any legal move. To make it yours, change choose().

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "allfours/v1/service.grpc.pb.h"

using namespace allfours::v1;

/// Any legal move, each with the same chance.
static Move choose(const Turn& turn) {
  // Every decision has chance of its own, so a game can be played again in any order of turns.
  std::seed_seq seed{turn.bot_seed() & 0xFFFFFFFF, turn.bot_seed() >> 32,
                     std::uint64_t{turn.deal()}, std::uint64_t{turn.decision()},
                     std::uint64_t{turn.retry()}};
  std::mt19937 chance(seed);
  const auto any = [&chance](const auto& choices) {
    return choices.Get(std::uniform_int_distribution(0, choices.size() - 1)(chance));
  };
  const Options& options = turn.options();
  Move move;
  move.set_turn_id(turn.turn_id());
  switch (turn.kind()) {
    case TURN_KIND_BID: move.set_bid(any(options.bids())); break;
    case TURN_KIND_PLAY: move.set_card(static_cast<Card>(any(options.cards()))); break;
    case TURN_KIND_NAME_TRUMP: move.set_suit(static_cast<Suit>(any(options.suits()))); break;
    case TURN_KIND_STAND_OR_BEG:
    case TURN_KIND_ANSWER_BEG: move.set_call(static_cast<Call>(any(options.calls()))); break;
    case TURN_KIND_DISCARD: {
      const Keep& keep = options.keep();
      *move.mutable_kept() = keep.must_keep();
      std::sample(keep.may_keep().begin(), keep.may_keep().end(),
                  google::protobuf::RepeatedFieldBackInserter(move.mutable_kept()),
                  keep.count() - keep.must_keep_size(), chance);
      break;
    }
    default:  // A kind of a later version: the referee moves instead.
      break;
  }
  return move;
}

static std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// A channel to unix:/path, tcp:host:port or tls:host:port.
static std::shared_ptr<grpc::Channel> dial(const std::string& address) {
  auto credentials = grpc::InsecureChannelCredentials();
  if (address.starts_with("tls:")) {
    std::ifstream authority(env("REFEREE_CA"));  // without one: the usual authorities
    grpc::SslCredentialsOptions trust;
    trust.pem_root_certs.assign(std::istreambuf_iterator<char>(authority), {});
    credentials = grpc::SslCredentials(trust);
  }
  const bool local = address.starts_with("unix:");
  return grpc::CreateChannel(local ? address : address.substr(address.find(':') + 1), credentials);
}

/// Answers the turns of the referee, batch after batch, until it says farewell.
int main() {
  const std::string address = env("REFEREE_ADDRESS");
  if (address.empty()) {
    std::cerr << "A referee starts this bot: referee play . careful\n";
    return 2;
  }
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + env("REFEREE_TOKEN"));
  const auto referee = RefereeService::NewStub(dial(address));
  const auto stream = referee->Play(&context);
  PlayRequest request;
  request.mutable_join()->set_name("random-cpp");
  request.mutable_join()->set_language("c++");
  request.mutable_join()->set_max_in_flight(64);
  stream->Write(request);
  for (PlayResponse response; stream->Read(&response);) {
    for (const Ruling& ruling : response.rulings()) {
      std::cerr << "ruling " << ruling.rule_id() << ": " << ruling.sentence() << '\n';
    }
    if (response.turns_size() > 0) {
      PlayRequest answers;
      for (const Turn& turn : response.turns()) {
        *answers.add_moves() = choose(turn);
      }
      stream->Write(answers);
    }
    if (response.has_farewell()) {
      stream->WritesDone();
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    std::cerr << "the referee is lost: " << status.error_message() << '\n';
  }
  return status.ok() ? 0 : 1;
}
