//! A bot for Referee with sound play by rules of thumb. Here is how it talks; what it decides is in `careful.rs`.

use std::{collections::HashMap, env, error::Error, fs};

use allfours::{Join, PlayRequest, referee_service_client::RefereeServiceClient};
use careful::Position;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

mod careful;

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
        Join { name: "careful-rust".into(), language: "rust".into(), max_in_flight: Some(64), ..Default::default() };
    outbox.send(PlayRequest { join: Some(join), moves: vec![] })?;
    let channel = dial(&address).await?;
    let mut stream = RefereeServiceClient::new(channel).play(call).await?.into_inner();
    let mut rules = HashMap::new();
    while let Some(response) = stream.message().await? {
        for set in response.joined.unwrap_or_default().rule_sets {
            rules.insert(set.rule_set_id, set);
        }
        for ruling in response.rulings {
            eprintln!("{} {}", ruling.rule_id, ruling.sentence);
        }
        if !response.turns.is_empty() {
            let position = |turn| Position { turn, rules: &rules[&turn.rule_set_id] };
            let moves = response.turns.iter().map(|turn| position(turn).choose()).collect();
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
