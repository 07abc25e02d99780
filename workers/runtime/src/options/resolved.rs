//! The values of options: defaults, then the profile, then what the suite sets; every value checked against its description.
//!
//! It reads no file and knows no option's meaning; a worker asks for a value by the name it described.

use std::collections::BTreeMap;

use middlemark_contract::{Description, OptionDescription, OptionKind, OptionValue, Refusal};

/// The resolved options of one application or service: every described option has a value of its kind.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(Default))]
pub struct Options(BTreeMap<String, OptionValue>);

impl Options {
    /// Resolves `profile` and `overrides` against a description.
    ///
    /// # Errors
    /// A refusal for an unknown profile or option, or a value of the wrong kind; it names what is allowed.
    pub fn resolve(
        description: &Description,
        profile: &str,
        overrides: &BTreeMap<String, OptionValue>,
    ) -> Result<Options, Refusal> {
        let chosen = description.profiles.get(profile).ok_or_else(|| Refusal {
            capability: "profile".into(),
            reason: format!(
                "no profile '{profile}'; there are {}",
                join(description.profiles.keys())
            ),
        })?;
        let mut values: BTreeMap<_, _> = description
            .options
            .iter()
            .map(|option| (option.name.clone(), option.default.clone()))
            .collect();
        for (name, value) in chosen.options.iter().chain(overrides) {
            let option = description
                .options
                .iter()
                .find(|option| &option.name == name)
                .ok_or_else(|| Refusal {
                    capability: "option".into(),
                    reason: format!("no option '{name}'; there are {}", join(values.keys())),
                })?;
            check(option, value)?;
            values.insert(name.clone(), value.clone());
        }
        Ok(Options(values))
    }

    /// The value of a boolean option that the worker described.
    #[must_use]
    pub fn boolean(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(OptionValue::Boolean(value)) => *value,
            other => panic!("option {name} is not described as a boolean: {other:?}"),
        }
    }

    /// The value of an integer option that the worker described.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        match self.0.get(name) {
            Some(OptionValue::Integer(value)) => *value,
            other => panic!("option {name} is not described as an integer: {other:?}"),
        }
    }

    /// The value of a choice or text option that the worker described.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(OptionValue::Text(value)) => value,
            other => panic!("option {name} is not described as a choice or text: {other:?}"),
        }
    }

    /// Every option with its value in words, for `effective`.
    #[must_use]
    pub fn words(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, value)| (name.clone(), word(value))).collect()
    }
}

fn check(option: &OptionDescription, value: &OptionValue) -> Result<(), Refusal> {
    let allowed = match (&option.kind, value) {
        (OptionKind::Boolean, OptionValue::Boolean(_)) | (OptionKind::Text, OptionValue::Text(_)) => return Ok(()),
        (OptionKind::Integer { minimum, maximum }, OptionValue::Integer(number))
            if (minimum..=maximum).contains(&number) =>
        {
            return Ok(());
        }
        (OptionKind::Choice { choices }, OptionValue::Text(text)) if choices.contains(text) => return Ok(()),
        (OptionKind::Boolean, _) => "true or false".to_owned(),
        (OptionKind::Text, _) => "a text".to_owned(),
        (OptionKind::Integer { minimum, maximum }, _) => format!("a whole number from {minimum} to {maximum}"),
        (OptionKind::Choice { choices }, _) => join(choices),
    };
    Err(Refusal {
        capability: "option".into(),
        reason: format!("option '{}' can't be {}; allowed: {allowed}", option.name, word(value)),
    })
}

fn word(value: &OptionValue) -> String {
    match value {
        OptionValue::Boolean(value) => value.to_string(),
        OptionValue::Integer(value) => value.to_string(),
        OptionValue::Text(value) => value.clone(),
    }
}

fn join<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    words
        .into_iter()
        .map(|word| word.as_ref().to_owned())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{Capabilities, Deliveries, Delivery, Library, Profile};

    use super::*;
    use crate::options::{boolean, choice, integer};

    fn description() -> Description {
        Description {
            contract_version: middlemark_contract::CONTRACT_VERSION,
            middleware: "m".into(),
            title: "M".into(),
            summary: String::new(),
            library: Library {
                name: "m".into(),
                version: "1".into(),
                origin: String::new(),
                released: None,
            },
            capabilities: capabilities(),
            protocols: vec![],
            dissectors: vec![],
            services: vec![],
            ports: middlemark_contract::PortHolders::Nothing,
            profiles: [
                ("default", vec![]),
                (
                    "tuned",
                    vec![
                        ("nodelay", OptionValue::Boolean(true)),
                        ("depth", OptionValue::Integer(9)),
                    ],
                ),
            ]
            .map(|(name, options)| {
                let options = options
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                (
                    name.to_owned(),
                    Profile {
                        options,
                        ..Profile::new("")
                    },
                )
            })
            .into(),
            options: options(),
        }
    }

    fn options() -> Vec<OptionDescription> {
        vec![
            boolean("nodelay", false, ""),
            integer("depth", 1..=10, 1, ""),
            choice("transport", &["tcp", "udp"], "tcp", ""),
        ]
    }

    fn capabilities() -> Capabilities {
        Capabilities {
            patterns: vec![],
            transports: vec![],
            reliabilities: vec![],
            durabilities: vec![],
            histories: vec![],
            congestion: vec![],
            deliveries: Deliveries {
                default: Delivery::OwnThread,
                has: vec![],
                lacks: vec![],
            },
            matching: None,
            largest_message_bytes: 1,
            serialisations: Vec::new(),
            zero_copy: false,
            same_process: true,
            security: vec![],
            lacking_security: vec![],
            lacking_pause: None,
            between_hosts: true,
        }
    }

    fn resolve(profile: &str, overrides: &[(&str, OptionValue)]) -> Result<Options, Refusal> {
        let overrides = overrides
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        Options::resolve(&description(), profile, &overrides)
    }

    #[test]
    fn the_suite_goes_before_the_profile_and_the_profile_before_the_default() {
        let options = resolve("tuned", &[("depth", OptionValue::Integer(3))]).unwrap();
        assert_eq!(
            (
                options.boolean("nodelay"),
                options.integer("depth"),
                options.text("transport")
            ),
            (true, 3, "tcp")
        );
        assert!(!resolve("default", &[]).unwrap().boolean("nodelay"));
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        let reason = |overrides: &[_]| resolve("default", overrides).unwrap_err().reason;
        assert_eq!(
            reason(&[("depth", OptionValue::Integer(11))]),
            "option 'depth' can't be 11; allowed: a whole number from 1 to 10"
        );
        assert_eq!(
            reason(&[("transport", OptionValue::Text("ipx".into()))]),
            "option 'transport' can't be ipx; allowed: tcp, udp"
        );
        assert_eq!(
            reason(&[("nodelay", OptionValue::Integer(1))]),
            "option 'nodelay' can't be 1; allowed: true or false"
        );
        assert_eq!(
            reason(&[("nosuch", OptionValue::Integer(1))]),
            "no option 'nosuch'; there are depth, nodelay, transport"
        );
        assert_eq!(
            resolve("fast", &[]).unwrap_err().reason,
            "no profile 'fast'; there are default, tuned"
        );
    }
}
