//! Options: defaults, then the profile, then what the suite sets; every value checked against its description.
//!
//! It reads no file and knows no option's meaning; a worker asks for a value by the name it described.

use std::collections::BTreeMap;

use middlemark_contract::{Description, OptionDescription, OptionKind, OptionValue, Refusal};

/// The resolved options of one application or service: every described option has a value of its kind.
#[derive(Debug, Clone, PartialEq)]
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
