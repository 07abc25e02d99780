//! Writes the contract's JSON Schemas into a folder, one file a type: `export-schemas FOLDER`.
//! What a worker reads and prints as JSON is in `protocol` there; the others are of records, which are no JSON.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use middlemark_contract::{
    ApplicationCommand, ApplicationEvent, ApplicationSpec, CredentialsEvent, CredentialsRequest, Description,
    Execution, ExecutionInput, ExecutionOutput, Published, Received, ServiceCommand, ServiceEvent, ServiceSpec,
};
use schemars::{Schema, schema_for};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: export-schemas FOLDER")?);
    fs::create_dir_all(folder.join("protocol"))?;
    for (name, schema) in schemas() {
        fs::write(
            folder.join(format!("{name}.json")),
            serde_json::to_string_pretty(&schema)? + "\n",
        )?;
    }
    Ok(())
}

fn schemas() -> [(&'static str, Schema); 14] {
    [
        ("protocol/description", schema_for!(Description)),
        ("protocol/application_spec", schema_for!(ApplicationSpec)),
        ("protocol/application_command", schema_for!(ApplicationCommand)),
        ("protocol/application_event", schema_for!(ApplicationEvent)),
        ("protocol/credentials_request", schema_for!(CredentialsRequest)),
        ("protocol/credentials_event", schema_for!(CredentialsEvent)),
        ("execution", schema_for!(Execution)),
        ("execution_input", schema_for!(ExecutionInput)),
        ("execution_output", schema_for!(ExecutionOutput)),
        ("published", schema_for!(Published)),
        ("received", schema_for!(Received)),
        ("protocol/service_spec", schema_for!(ServiceSpec)),
        ("protocol/service_command", schema_for!(ServiceCommand)),
        ("protocol/service_event", schema_for!(ServiceEvent)),
    ]
}
