//! The policies of a trial with security: vSomeIP lets the trial's user alone offer and request the trial's services.
//!
//! The kernel vouches for who is at the other end of a Unix socket, and for nobody at a TCP or UDP port; so a trial between
//! hosts is refused. `configuration` puts the policies into what each process reads.

use std::net::IpAddr;

use middlemark_contract::{CredentialsRequest, Refusal};
use middlemark_runtime::user;
use serde_json::{Map, Value, json};

use super::{INSTANCE, ROUTING_MANAGER};

/// The routing manager's identifier, which has to be fixed, so that its applications know whose word counts: the first of
/// those that it gives to others.
const ROUTING_MANAGER_ID: &str = "0x0100";

/// Refuses a trial whose applications live on more than one host.
///
/// # Errors
/// The refusal.
pub(crate) fn accept(request: &CredentialsRequest) -> Result<(), Refusal> {
    let mut hosts: Vec<&[IpAddr]> = request.applications.iter().map(|each| &*each.addresses).collect();
    hosts.dedup();
    if hosts.len() <= 1 {
        return Ok(());
    }
    Err(refusal())
}

/// The refusal of a trial between hosts.
pub(crate) fn refusal() -> Refusal {
    Refusal {
        capability: "security".into(),
        reason:
            "between hosts vSomeIP authenticates nobody: its policies go by the user at a Unix socket, and whoever \
                 reaches its TCP or UDP ports passes unchecked"
                .into(),
    }
}

/// Adds the policies to a configuration whose application is the only one in it yet.
pub(crate) fn add(whole: &mut Map<String, Value>, services: impl Iterator<Item = u16>) {
    name_routing_manager(&mut whole["applications"]);
    let own = json!({ "uid": user::id().to_string(), "gid": user::group().to_string() });
    let services: Vec<_> = services
        .map(|service| json!({ "service": format!("{service:#06x}"), "instance": INSTANCE }))
        .collect();
    whole.insert("routing-credentials".into(), own.clone());
    whole.insert(
        "security".into(),
        json!({
            "check_credentials": "true",
            "allow_remote_clients": "false",
            "policies": [{ "credentials": own, "allow": { "requests": services, "offers": services } }],
        }),
    );
}

fn name_routing_manager(applications: &mut Value) {
    let applications = applications.as_array_mut().expect("it is written as a list");
    match applications.iter_mut().find(|each| each["name"] == ROUTING_MANAGER) {
        Some(own) => own["id"] = ROUTING_MANAGER_ID.into(),
        None => applications.push(json!({ "name": ROUTING_MANAGER, "id": ROUTING_MANAGER_ID })),
    }
}

/// What is in effect by them, in words.
pub(crate) fn words() -> String {
    let (user, group) = (user::id(), user::group());
    format!(
        "check_credentials true: user {user} of group {group} alone may offer and request; routing-credentials the same"
    )
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{CONTRACT_VERSION, Rendezvous, SecuredApplication, SecurityLevel};

    use super::*;

    fn request(addresses: [&str; 2]) -> CredentialsRequest {
        let application = |(number, address): (usize, &str)| SecuredApplication {
            application: format!("application_{number}"),
            addresses: vec![address.parse().unwrap()],
            endpoints: vec![],
        };
        CredentialsRequest {
            contract_version: CONTRACT_VERSION,
            level: SecurityLevel::Authenticated,
            rendezvous: Rendezvous {
                name: "trial".into(),
                token: 1,
                domain: 0,
                first_port: 20000,
                ports: 4,
                folder: "/tmp/trial".into(),
            },
            profile: "default".into(),
            options: [].into(),
            streams: vec![],
            applications: addresses.into_iter().enumerate().map(application).collect(),
            services: vec![],
        }
    }

    #[test]
    fn applications_of_two_hosts_are_refused() {
        assert_eq!(accept(&request(["127.0.0.1", "127.0.0.1"])), Ok(()));
        let refused = accept(&request(["10.0.0.1", "10.0.0.2"])).unwrap_err();
        assert_eq!(refused.capability, "security");
    }

    #[test]
    fn the_trials_user_alone_may_offer_and_request() {
        let mut whole = json!({ "applications": [{ "name": "left" }] });
        add(whole.as_object_mut().unwrap(), [0x1000].into_iter());
        let policies = whole["security"]["policies"].as_array().unwrap();
        assert_eq!(policies.len(), 1);
        assert_eq!(policies[0]["credentials"]["uid"], user::id().to_string());
        let services = json!([{ "service": "0x1000", "instance": "0x0001" }]);
        assert_eq!(
            policies[0]["allow"],
            json!({ "requests": services, "offers": services })
        );
        assert_eq!(
            whole["applications"][1],
            json!({ "name": ROUTING_MANAGER, "id": ROUTING_MANAGER_ID })
        );
    }

    #[test]
    fn the_routing_manager_is_named_once() {
        let mut whole = json!({ "applications": [{ "name": ROUTING_MANAGER }] });
        add(whole.as_object_mut().unwrap(), [].into_iter());
        assert_eq!(
            whole["applications"],
            json!([{ "name": ROUTING_MANAGER, "id": ROUTING_MANAGER_ID }])
        );
    }
}
