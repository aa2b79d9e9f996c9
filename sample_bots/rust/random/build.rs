//! Writes the code of the protocol. protox reads .proto files in Rust, so no protoc has to be installed.

use std::{error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let protos = ["protos", "../../../protos"]
        .into_iter()
        .find(|folder| Path::new(folder).is_dir())
        .ok_or("there is no folder protos: write it with `referee protos --out protos`")?;
    println!("cargo:rerun-if-changed={protos}");
    let files = protox::compile(["allfours/v1/service.proto", "allfours/v1/events.proto"], [protos])?;
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
