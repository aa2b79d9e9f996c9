// Dials the referee and answers its turns, batch after batch, until it says farewell.

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "allfours/v1/service.grpc.pb.h"
#include "careful_bot.hpp"

using namespace allfours::v1;

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
  request.mutable_join()->set_name("careful-cpp");
  request.mutable_join()->set_language("c++");
  request.mutable_join()->set_max_in_flight(64);
  stream->Write(request);
  std::map<std::uint32_t, RuleSet> rules;
  for (PlayResponse response; stream->Read(&response);) {
    for (const RuleSet& set : response.joined().rule_sets()) {
      rules[set.rule_set_id()] = set;
    }
    for (const Ruling& ruling : response.rulings()) {
      std::cerr << "ruling " << ruling.rule_id() << ": " << ruling.sentence() << '\n';
    }
    if (response.turns_size() > 0) {
      PlayRequest answers;
      for (const Turn& turn : response.turns()) {
        *answers.add_moves() = careful_move(turn, rules[turn.rule_set_id()]);
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
