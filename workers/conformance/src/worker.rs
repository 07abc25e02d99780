//! Finds worker executables, has them describe themselves, and names the variants of each that are checked.
//!
//! A worker is known by its file's name, `middlemark-worker-<middleware>`, as to `middlemark` itself; nothing here knows
//! what a middleware is.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Delivery, Description, OptionKind, OptionValue, Profile, Refusal};

use crate::process::Process;

/// Names the folders to search, as PATH does.
const FOLDERS: &str = "MIDDLEMARK_WORKERS";
const PREFIX: &str = "middlemark-worker-";

/// Names options that all specs of a middleware have, as JSON: `{"<middleware>": {"<option>": <value>}}`. With it the
/// suite runs where something that a default needs can't be had, as under an emulator that lacks a call of the kernel.
const OPTIONS: &str = "MIDDLEMARK_CONFORMANCE_OPTIONS";

/// An executable with a worker's name.
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// A worker that has described itself.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) description: Description,
    /// The options that all of its specs have.
    pub(crate) always: BTreeMap<String, OptionValue>,
}

/// One configuration of a worker that is checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variant {
    /// A profile as it is.
    Profile(String),
    /// The profile `default` over another of the middleware's transports.
    Transport { value: String },
    /// The profile `default` with another of the middleware's deliveries.
    Delivery { delivery: Delivery },
    /// A profile with further options; made by the checks that need these.
    Changed {
        profile: String,
        options: BTreeMap<String, OptionValue>,
    },
}

/// Every worker in the named folders, or beside this executable where none are named.
pub(crate) fn find() -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    folders()
        .iter()
        .flat_map(|folder| executables(folder))
        .filter(|candidate| seen.insert(candidate.name.clone()))
        .collect()
}

/// Why it is a failure to have found nothing.
pub(crate) fn none_found() -> String {
    let folders: Vec<_> = folders().iter().map(|folder| folder.display().to_string()).collect();
    format!(
        "no executable {PREFIX}* in {}; build one with `cargo build --release -p middlemark-worker-udp`, \
         or name the folders of workers in {FOLDERS}",
        folders.join(", ")
    )
}

fn folders() -> Vec<PathBuf> {
    match env::var_os(FOLDERS) {
        Some(folders) => env::split_paths(&folders).collect(),
        None => env::current_exe()
            .iter()
            .filter_map(|path| path.parent()?.parent().map(Path::to_owned))
            .collect(),
    }
}

fn executables(folder: &Path) -> Vec<Candidate> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.strip_prefix(PREFIX)?.to_owned();
            let is_program = entry
                .path()
                .metadata()
                .is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
            (is_program && !name.contains('.')).then(|| Candidate {
                name,
                path: entry.path(),
            })
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

impl Candidate {
    /// Runs `describe`.
    pub(crate) fn describe(&self) -> Result<Worker> {
        let mut process = Process::spawn(&self.path, "describe", &self.name)?;
        let description: Description = process.next("a description, one line of JSON")?;
        ensure!(
            process.is_silent("the end of standard output after the description")?,
            "describe printed more than one line"
        );
        let status = process.wait("the end of describe")?;
        ensure!(status.success(), "describe ended with {status}");
        Ok(Worker {
            name: self.name.clone(),
            path: self.path.clone(),
            description,
            always: match env::var(OPTIONS) {
                Ok(text) => options_of(&self.name, &text).with_context(|| format!("reading {OPTIONS}"))?,
                Err(_) => BTreeMap::new(),
            },
        })
    }
}

/// A middleware's options in the JSON of all.
fn options_of(middleware: &str, text: &str) -> Result<BTreeMap<String, OptionValue>> {
    let mut of_each: BTreeMap<String, BTreeMap<String, OptionValue>> = serde_json::from_str(text)?;
    Ok(of_each.remove(middleware).unwrap_or_default())
}

impl Worker {
    /// Each profile, each further value of the option `transport`, and each further delivery.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        let profiles = self.description.profiles.keys().cloned().map(Variant::Profile);
        let usual = self.options(&Variant::Profile("default".into())).remove("transport");
        let others = self.transports().into_iter().filter(|value| match &usual {
            Some(OptionValue::Text(usual)) => value != usual,
            _ => true,
        });
        let deliveries = &self.description.capabilities.deliveries;
        let further = deliveries.has.iter().map(|each| each.delivery);
        let usual = self.delivery(&Variant::Profile("default".into()));
        profiles
            .chain(others.map(|value| Variant::Transport { value }))
            .chain(
                further
                    .filter(|each| *each != usual)
                    .map(|delivery| Variant::Delivery { delivery }),
            )
            .collect()
    }

    fn transports(&self) -> Vec<String> {
        let option = self
            .description
            .options
            .iter()
            .find(|option| option.name == "transport");
        match option.map(|option| &option.kind) {
            Some(OptionKind::Choice { choices }) => choices.clone(),
            _ => Vec::new(),
        }
    }

    /// Every option's value under a variant: defaults, then the profile, then what a spec sets.
    pub(crate) fn options(&self, variant: &Variant) -> BTreeMap<String, OptionValue> {
        let mut values: BTreeMap<_, _> = self
            .description
            .options
            .iter()
            .map(|option| (option.name.clone(), option.default.clone()))
            .collect();
        let profile = self.description.profiles.get(variant.profile());
        values.extend(
            profile
                .map(|Profile { options, .. }| options.clone())
                .unwrap_or_default(),
        );
        values.extend(self.set_by_spec(variant));
        values
    }

    /// The options that a spec sets beyond the profile.
    pub(crate) fn set_by_spec(&self, variant: &Variant) -> BTreeMap<String, OptionValue> {
        let mut options = self.always.clone();
        options.extend(variant.options());
        options
    }

    /// The delivery under a variant: the variant's, else the profile's, else the default.
    pub(crate) fn delivery(&self, variant: &Variant) -> Delivery {
        let profile = self.description.profiles.get(variant.profile());
        match variant {
            Variant::Delivery { delivery } => *delivery,
            _ => profile
                .and_then(|profile| profile.delivery)
                .unwrap_or(self.description.capabilities.deliveries.default),
        }
    }

    /// Runs one of its commands.
    pub(crate) fn spawn(&self, command: &str, name: &str) -> Result<Process> {
        Process::spawn(&self.path, command, name).with_context(|| format!("starting {}", self.path.display()))
    }
}

impl Variant {
    /// The profile that a spec names.
    pub(crate) fn profile(&self) -> &str {
        match self {
            Variant::Profile(name) | Variant::Changed { profile: name, .. } => name,
            Variant::Transport { .. } | Variant::Delivery { .. } => "default",
        }
    }

    /// The options that make the variant.
    pub(crate) fn options(&self) -> BTreeMap<String, OptionValue> {
        match self {
            Variant::Profile(_) | Variant::Delivery { .. } => BTreeMap::new(),
            Variant::Transport { value } => [("transport".into(), OptionValue::Text(value.clone()))].into(),
            Variant::Changed { options, .. } => options.clone(),
        }
    }

    /// Whether a refusal is what the variant lacks, or what this machine lacks of a profile, and no failure.
    pub(crate) fn may_be_refused(&self, refusal: &Refusal) -> bool {
        match self {
            Variant::Transport { .. } | Variant::Delivery { .. } => true,
            Variant::Profile(name) => name != "default" && refusal.capability == "machine",
            Variant::Changed { .. } => false,
        }
    }

    /// Its name within a test's.
    pub(crate) fn name(&self) -> String {
        match self {
            Variant::Profile(name) => name.clone(),
            Variant::Transport { value } => {
                let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '_' };
                format!("transport_{}", value.chars().map(plain).collect::<String>())
            }
            Variant::Delivery { delivery } => format!("delivery_{delivery}"),
            Variant::Changed { .. } => "changed".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_lacks_excuses_a_profile_beyond_the_default_and_nothing_else() {
        let may_be_refused = |variant: Variant, capability: &str| {
            variant.may_be_refused(&Refusal {
                capability: capability.into(),
                reason: "it is not here".into(),
            })
        };
        assert!(may_be_refused(Variant::Profile("tuned".into()), "machine"));
        assert!(!may_be_refused(Variant::Profile("tuned".into()), "option"));
        assert!(!may_be_refused(Variant::Profile("default".into()), "machine"));
        assert!(may_be_refused(
            Variant::Transport { value: "udp".into() },
            "reliability"
        ));
    }

    #[test]
    fn options_for_all_specs_are_those_of_the_middleware_alone() {
        let text = r#"{"one": {"discovery": "peers", "retries": 3}, "other": {"fast": true}}"#;
        let options = options_of("one", text).expect("valid options");
        let expected = [
            ("discovery".to_owned(), OptionValue::Text("peers".into())),
            ("retries".to_owned(), OptionValue::Integer(3)),
        ];
        assert_eq!(options, expected.into());
        assert!(options_of("a third", text).expect("valid options").is_empty());
        assert!(options_of("one", r#"{"one": "peers"}"#).is_err());
    }
}
