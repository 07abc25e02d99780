//! What governance and permissions have alike: how a document becomes text, and how a domain is named in it.

use serde::Serialize;

const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// The one domain that a document is about.
#[derive(Serialize)]
pub(super) struct Domains {
    pub(super) id: u16,
}

/// The document with its declaration; whatever would be markup within a text is escaped.
pub(super) fn render(document: &impl Serialize) -> Result<String, quick_xml::SeError> {
    Ok(DECLARATION.to_owned() + &quick_xml::se::to_string(document)?)
}
