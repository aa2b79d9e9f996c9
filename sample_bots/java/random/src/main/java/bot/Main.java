package bot;

import allfours.v1.Join;
import allfours.v1.PlayRequest;
import allfours.v1.PlayResponse;
import allfours.v1.RefereeServiceGrpc;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.io.IOException;
import java.util.Objects;

/** Dials the referee and answers its turns, batch after batch, until it says farewell. */
final class Main {
  public static void main(String[] args) throws Exception {
    var address = System.getenv("REFEREE_ADDRESS");
    Objects.requireNonNull(address, "A referee starts this bot: referee play . careful");
    var token = new Metadata();
    var authorization = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    token.put(authorization, "Bearer " + System.getenv("REFEREE_TOKEN"));
    var stream =
        RefereeServiceGrpc.newBlockingV2Stub(dial(address))
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(token))
            .play();
    var join = Join.newBuilder().setName("random-java").setLanguage("java").setMaxInFlight(64);
    stream.write(PlayRequest.newBuilder().setJoin(join).build());
    for (PlayResponse response; (response = stream.read()) != null; ) {
      for (var ruling : response.getRulingsList()) {
        System.err.println("ruling " + ruling.getRuleId() + ": " + ruling.getSentence());
      }
      if (response.getTurnsCount() > 0) {
        var moves = response.getTurnsList().stream().map(RandomBot::move).toList();
        stream.write(PlayRequest.newBuilder().addAllMoves(moves).build());
      }
      if (response.hasFarewell()) {
        stream.halfClose();
      }
    }
  }

  /** A channel to unix:/path, tcp:host:port or tls:host:port. */
  private static Channel dial(String address) throws IOException {
    ChannelCredentials credentials = InsecureChannelCredentials.create();
    if (address.startsWith("tls:")) {
      var trust = TlsChannelCredentials.newBuilder();
      var authority = System.getenv("REFEREE_CA");
      credentials = (authority == null ? trust : trust.trustManager(new File(authority))).build();
    }
    var target = address.replaceFirst("^(tcp|tls):", "dns:///");
    return Grpc.newChannelBuilder(target, credentials).build();
  }
}
