//! A bot for Referee that plays any legal move. To make it yours, change `choose`.

use std::{env, error::Error, fs};

use allfours::{Join, Move, PlayRequest, Turn, referee_service_client::RefereeServiceClient};
use fastrand::Rng;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

#[allow(clippy::all)] // generated
mod allfours {
    tonic::include_proto!("allfours.v1");
}

const HELP: &str = "this is a bot: it plays when a referee starts it, as in: referee play . careful";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::var("REFEREE_ADDRESS").map_err(|_| HELP)?;
    let (outbox, requests) = mpsc::unbounded_channel();
    let mut call = Request::new(UnboundedReceiverStream::new(requests));
    let token = format!("Bearer {}", env::var("REFEREE_TOKEN")?);
    call.metadata_mut().insert("authorization", token.parse()?);
    let join =
        Join { name: "random-rust".into(), language: "rust".into(), max_in_flight: Some(64), ..Default::default() };
    outbox.send(PlayRequest { join: Some(join), moves: vec![] })?;
    let channel = dial(&address).await?;
    let mut stream = RefereeServiceClient::new(channel).play(call).await?.into_inner();
    while let Some(response) = stream.message().await? {
        for ruling in response.rulings {
            eprintln!("{} {}", ruling.rule_id, ruling.sentence);
        }
        if !response.turns.is_empty() {
            let moves = response.turns.iter().map(choose).collect();
            outbox.send(PlayRequest { join: None, moves })?;
        }
        if response.farewell.is_some() {
            drop(outbox); // closes our side
            stream.message().await.ok(); // the end of the stream
            return Ok(());
        }
    }
    Err("the referee has left without a farewell".into())
}

/// One of what is legal: only the options of the turn's kind are filled. Chance comes from the turn itself, so that a
/// game can be played again.
fn choose(turn: &Turn) -> Move {
    let number = u64::from(turn.deal) << 32 | u64::from(turn.decision) << 8 | u64::from(turn.retry);
    let mut chance = Rng::with_seed(turn.bot_seed ^ number);
    let options = turn.options.clone().unwrap_or_default();
    let keep = options.keep.unwrap_or_default();
    let drawn = chance.choose_multiple(keep.may_keep, keep.count as usize - keep.must_keep.len());
    Move {
        turn_id: turn.turn_id,
        card: chance.choice(options.cards),
        bid: chance.choice(options.bids),
        suit: chance.choice(options.suits),
        call: chance.choice(options.calls),
        kept: [keep.must_keep, drawn].concat(),
    }
}

/// Connects to `unix:/path`, `tcp:host:port` or `tls:host:port`.
async fn dial(address: &str) -> Result<Channel, Box<dyn Error>> {
    let endpoint = match address.split_once(':') {
        Some(("tcp", host)) => Endpoint::try_from(format!("http://{host}"))?,
        Some(("tls", host)) => {
            let trust = match env::var("REFEREE_CA") {
                Ok(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(fs::read(file)?)),
                Err(_) => ClientTlsConfig::new().with_native_roots(),
            };
            Endpoint::try_from(format!("https://{host}"))?.tls_config(trust)?
        }
        _ => Endpoint::try_from(address.to_owned())?,
    };
    Ok(endpoint.connect().await?)
}
