//! What one application may do in a secure domain: the permissions document of DDS Security (its section 9.4.1.3).
//!
//! It renders the text alone; `signature` signs it, and `governance` says what holds for everyone.

use serde::Serialize;
use time::OffsetDateTime;
use time::macros::format_description;

use super::document::{self, Domains};
use super::grant::Grant;

#[derive(Serialize)]
#[serde(rename = "dds")]
struct Document<'a> {
    permissions: Permissions<'a>,
}

#[derive(Serialize)]
struct Permissions<'a> {
    grant: GrantElement<'a>,
}

/// In the order of the standard's schema.
#[derive(Serialize)]
struct GrantElement<'a> {
    #[serde(rename = "@name")]
    name: &'a str,
    subject_name: String,
    validity: Validity,
    allow_rule: AllowRule<'a>,
    default: &'static str,
}

#[derive(Serialize)]
struct Validity {
    not_before: String,
    not_after: String,
}

#[derive(Serialize)]
struct AllowRule<'a> {
    domains: Domains,
    #[serde(skip_serializing_if = "Option::is_none")]
    publish: Option<Criteria<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribe: Option<Criteria<'a>>,
}

/// The topics, and the partitions in which they are allowed: without any, Cyclone DDS allows nothing.
#[derive(Serialize)]
struct Criteria<'a> {
    topics: Topics<'a>,
    partitions: Partitions,
}

#[derive(Serialize)]
struct Topics<'a> {
    topic: &'a [String],
}

#[derive(Serialize)]
struct Partitions {
    partition: &'static str,
}

impl<'a> Criteria<'a> {
    /// None for no topic: the schema has no empty list.
    fn of(topics: &'a [String]) -> Option<Criteria<'a>> {
        (!topics.is_empty()).then_some(Criteria {
            topics: Topics { topic: topics },
            partitions: Partitions { partition: "*" },
        })
    }
}

/// The document of one application: its own topics in this domain, and nothing else.
pub(super) fn render(grant: &Grant, domain: u16, valid: [OffsetDateTime; 2]) -> Result<String, quick_xml::SeError> {
    let [not_before, not_after] = valid.map(date_time);
    document::render(&Document {
        permissions: Permissions {
            grant: GrantElement {
                name: &grant.application,
                subject_name: subject_name(&grant.application),
                validity: Validity { not_before, not_after },
                allow_rule: AllowRule {
                    domains: Domains { id: domain },
                    publish: Criteria::of(&grant.publishes),
                    subscribe: Criteria::of(&grant.subscribes),
                },
                default: "DENY",
            },
        },
    })
}

/// How an identity's certificate names the application, as RFC 2253 writes it.
fn subject_name(application: &str) -> String {
    format!("CN={application}")
}

/// Such a date as the schema has it, `dateTime` in UTC.
fn date_time(instant: OffsetDateTime) -> String {
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    instant.format(&format).expect("every date has these parts")
}
