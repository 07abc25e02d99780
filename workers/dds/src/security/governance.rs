//! What holds for everyone in a secure domain: the governance document of DDS Security (its section 9.4.1.2).
//!
//! It renders the text alone; `signature` signs it, and `permissions` says who may do what.

use middlemark_contract::SecurityLevel;
use serde::Serialize;

use super::document::{self, Domains};
use super::layers::Layers;

/// What is done to messages, at each place where the standard lets it be chosen: `SIGN` proves by AES-GMAC who sent one,
/// `ENCRYPT` keeps it secret by AES-GCM beside, `NONE` leaves it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum Protection {
    None,
    Sign,
    Encrypt,
}

impl Protection {
    fn of(level: SecurityLevel) -> Protection {
        match level {
            SecurityLevel::Authenticated => Protection::Sign,
            SecurityLevel::Encrypted => Protection::Encrypt,
        }
    }
}

#[derive(Serialize)]
#[serde(rename = "dds")]
struct Governance {
    domain_access_rules: DomainAccessRules,
}

#[derive(Serialize)]
struct DomainAccessRules {
    domain_rule: DomainRule,
}

/// In the order of the standard's schema.
#[derive(Serialize)]
struct DomainRule {
    domains: Domains,
    allow_unauthenticated_participants: bool,
    enable_join_access_control: bool,
    discovery_protection_kind: Protection,
    liveliness_protection_kind: Protection,
    rtps_protection_kind: Protection,
    topic_access_rules: TopicAccessRules,
}

#[derive(Serialize)]
struct TopicAccessRules {
    topic_rule: TopicRule,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the schema has them so")]
struct TopicRule {
    topic_expression: &'static str,
    enable_discovery_protection: bool,
    enable_liveliness_protection: bool,
    enable_read_access_control: bool,
    enable_write_access_control: bool,
    metadata_protection_kind: Protection,
    data_protection_kind: Protection,
}

/// The document of a domain in which all layers are protected alike, as SROS 2 has it by default for `encrypted`, or RTPS
/// messages alone. Who may join, publish and subscribe is checked either way.
pub(super) fn render(domain: u16, level: SecurityLevel, layers: Layers) -> Result<String, quick_xml::SeError> {
    let protection = Protection::of(level);
    let (of_each, inner) = match layers {
        Layers::Every => (true, protection),
        Layers::Rtps => (false, Protection::None),
    };
    document::render(&Governance {
        domain_access_rules: DomainAccessRules {
            domain_rule: DomainRule {
                domains: Domains { id: domain },
                allow_unauthenticated_participants: false,
                enable_join_access_control: true,
                discovery_protection_kind: inner,
                liveliness_protection_kind: inner,
                rtps_protection_kind: protection,
                topic_access_rules: TopicAccessRules {
                    topic_rule: TopicRule {
                        topic_expression: "*",
                        enable_discovery_protection: of_each,
                        enable_liveliness_protection: of_each,
                        enable_read_access_control: true,
                        enable_write_access_control: true,
                        metadata_protection_kind: inner,
                        data_protection_kind: inner,
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_not_authenticated_stays_outside_and_all_is_encrypted() {
        let text = render(7, SecurityLevel::Encrypted, Layers::Every).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"<?xml version="1.0" encoding="UTF-8"?>"#,
                "<dds><domain_access_rules><domain_rule><domains><id>7</id></domains>",
                "<allow_unauthenticated_participants>false</allow_unauthenticated_participants>",
                "<enable_join_access_control>true</enable_join_access_control>",
                "<discovery_protection_kind>ENCRYPT</discovery_protection_kind>",
                "<liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>",
                "<rtps_protection_kind>ENCRYPT</rtps_protection_kind>",
                "<topic_access_rules><topic_rule><topic_expression>*</topic_expression>",
                "<enable_discovery_protection>true</enable_discovery_protection>",
                "<enable_liveliness_protection>true</enable_liveliness_protection>",
                "<enable_read_access_control>true</enable_read_access_control>",
                "<enable_write_access_control>true</enable_write_access_control>",
                "<metadata_protection_kind>ENCRYPT</metadata_protection_kind>",
                "<data_protection_kind>ENCRYPT</data_protection_kind>",
                "</topic_rule></topic_access_rules></domain_rule></domain_access_rules></dds>",
            )
        );
    }

    #[test]
    fn authenticated_signs_wherever_encrypted_encrypts() {
        for layers in Layers::ALL {
            let [signed, encrypted] = SecurityLevel::ALL.map(|level| render(7, level, layers).unwrap());
            assert_eq!(signed.replace(">SIGN<", ">ENCRYPT<"), encrypted);
            assert!(!signed.contains("ENCRYPT"), "{signed}");
        }
    }

    #[test]
    fn rtps_messages_alone_are_protected_once_and_strangers_stay_outside_all_the_same() {
        let [every, rtps] = Layers::ALL.map(|layers| render(7, SecurityLevel::Encrypted, layers).unwrap());
        assert_eq!(rtps.matches(">ENCRYPT<").count(), 1);
        assert!(
            rtps.contains("<rtps_protection_kind>ENCRYPT</rtps_protection_kind>"),
            "{rtps}"
        );
        let checks = |text: &str| {
            ["join_access", "read_access", "write_access"]
                .map(|what| text.contains(&format!("<enable_{what}_control>true</enable_{what}_control>")))
        };
        assert_eq!((checks(&every), checks(&rtps)), ([true; 3], [true; 3]));
        assert!(rtps.contains("<allow_unauthenticated_participants>false<"), "{rtps}");
    }
}
