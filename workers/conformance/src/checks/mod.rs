//! What is demanded of a worker: the list of all checks, and for which of its variants each is made.
//!
//! A check leads its trials itself and fails with what it saw; it leaves out only what `describe` says is lacking.

mod delivery;
mod description;
mod endings;
mod faults;
mod nodes;
mod nonsense;
mod qos;
mod refusals;
pub(crate) mod requests;
mod security;
mod topology;

use anyhow::Result;

use crate::case::{Answer, Case};
use crate::worker::Variant;

/// For which variants a check is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Once, with the profile `default`.
    Worker,
    /// With every profile.
    Profile,
    /// With every profile, over every transport and with every delivery.
    Path,
}

/// One demand.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) scope: Scope,
    pub(crate) run: fn(&Case) -> Result<Answer>,
}

impl Scope {
    pub(crate) fn holds(self, variant: &Variant) -> bool {
        match variant {
            Variant::Profile(name) => self != Scope::Worker || name == "default",
            Variant::Transport { .. } | Variant::Delivery { .. } => self == Scope::Path,
            Variant::Changed { .. } => false,
        }
    }

    /// The test's name: the variant is left out where there is only one.
    pub(crate) fn name(self, worker: &str, variant: &Variant, check: &str) -> String {
        match self {
            Scope::Worker => format!("{worker}::{check}"),
            Scope::Profile | Scope::Path => format!("{worker}::{}::{check}", variant.name()),
        }
    }
}

const fn check(name: &'static str, scope: Scope, run: fn(&Case) -> Result<Answer>) -> Check {
    Check { name, scope, run }
}

/// Every check.
pub(crate) const CHECKS: &[Check] = &[
    check("description_is_valid", Scope::Worker, description::is_valid),
    check(
        "tuning_is_accounted_for",
        Scope::Worker,
        description::tuning_is_accounted_for,
    ),
    check("accounting_is_exact", Scope::Path, delivery::accounting_is_exact),
    check("bytes_arrive_intact", Scope::Path, delivery::bytes_arrive_intact),
    check("bytes_arrive_in_pieces", Scope::Profile, delivery::bytes_in_pieces),
    check("paths_are_as_stated", Scope::Path, delivery::path::is_as_stated),
    check("order_is_kept", Scope::Path, delivery::order_is_kept),
    check("ping_pong_answers_every_question", Scope::Path, delivery::ping_pong),
    check(
        "ping_pong_answers_in_another_size",
        Scope::Profile,
        delivery::ping_pong_of_two_sizes,
    ),
    check("every_request_is_answered", Scope::Path, requests::every_one),
    check("several_clients_and_servers", Scope::Profile, requests::several_ends),
    check(
        "several_requests_under_way",
        Scope::Profile,
        requests::several_under_way,
    ),
    check("responses_of_another_size", Scope::Profile, requests::another_size),
    check("server_time_is_told_apart", Scope::Worker, requests::server_time),
    check("late_responses_are_counted", Scope::Worker, requests::late),
    check(
        "requests_beyond_outstanding_are_refused",
        Scope::Worker,
        requests::beyond_outstanding,
    ),
    check("a_client_finds_a_late_server", Scope::Profile, requests::late_server),
    check("a_killed_server_is_survived", Scope::Worker, requests::killed_server),
    check("bursts_are_carried", Scope::Profile, delivery::bursts),
    check(
        "unthrottled_messages_are_carried",
        Scope::Profile,
        delivery::unthrottled,
    ),
    check("poisson_arrivals_are_carried", Scope::Profile, delivery::poisson),
    check("recorded_messages_are_carried", Scope::Worker, delivery::recorded),
    check("typed_messages_pass", Scope::Profile, delivery::payloads::pass),
    check(
        "octets_in_place_of_typed_messages_are_found",
        Scope::Worker,
        delivery::payloads::octets_are_found,
    ),
    check(
        "unfit_payloads_are_refused",
        Scope::Worker,
        delivery::payloads::unfit_are_refused,
    ),
    check(
        "samples_beyond_the_memory_are_counted",
        Scope::Worker,
        delivery::beyond_samples,
    ),
    check("every_described_qos_is_carried", Scope::Worker, qos::every_qos),
    check("block_loses_nothing", Scope::Profile, qos::block_loses_nothing),
    check("a_blocked_publisher_gives_up", Scope::Worker, qos::patience_ends),
    check(
        "keep_last_keeps_the_newest",
        Scope::Profile,
        qos::keep_last_keeps_the_newest,
    ),
    check(
        "several_publishers_and_subscribers",
        Scope::Profile,
        topology::several_endpoints,
    ),
    check("several_streams_at_once", Scope::Profile, topology::several_streams),
    check("many_streams_at_once", Scope::Worker, topology::many_streams),
    check("nodes_compute_and_send", Scope::Worker, nodes::compute_and_send),
    check("both_ends_in_one_process", Scope::Profile, topology::same_process),
    check("a_late_subscriber_joins", Scope::Profile, topology::late_subscriber),
    check("a_late_publisher_joins", Scope::Profile, topology::late_publisher),
    check(
        "a_first_message_waits_for_no_period",
        Scope::Profile,
        topology::rare_messages,
    ),
    check("first_messages_come_in_parts", Scope::Path, topology::first_messages),
    check(
        "linked_services_pass_each_message_once",
        Scope::Worker,
        topology::linked_services,
    ),
    check(
        "two_trials_do_not_hear_each_other",
        Scope::Profile,
        topology::two_trials,
    ),
    check(
        "closing_leaves_nothing_and_it_opens_again",
        Scope::Path,
        endings::closes_and_reopens,
    ),
    check("stop_without_a_window_closes", Scope::Profile, endings::stops_early),
    check("a_lonely_endpoint_comes_to_its_end", Scope::Profile, endings::lonely),
    check(
        "a_hindered_start_comes_to_its_end",
        Scope::Path,
        endings::hindered_starts,
    ),
    check("the_end_of_input_ends_it", Scope::Worker, endings::end_of_input),
    check(
        "the_end_of_input_ends_a_service",
        Scope::Worker,
        endings::end_of_input_to_a_service,
    ),
    check(
        "a_killed_subscriber_is_survived",
        Scope::Profile,
        faults::killed_subscriber,
    ),
    check(
        "a_killed_publisher_is_survived",
        Scope::Profile,
        faults::killed_publisher,
    ),
    check(
        "a_subscriber_comes_back_within_the_window",
        Scope::Worker,
        faults::rejoin::subscriber,
    ),
    check(
        "a_publisher_comes_back_within_the_window",
        Scope::Worker,
        faults::rejoin::publisher,
    ),
    check("messages_pass_with_security", Scope::Path, security::messages_pass),
    check("answers_pass_with_security", Scope::Worker, security::answers_pass),
    check("requests_pass_with_security", Scope::Worker, security::requests_pass),
    check(
        "linked_services_pass_with_security",
        Scope::Worker,
        security::linked_services_pass,
    ),
    check(
        "strangers_are_kept_out",
        Scope::Worker,
        security::strangers_are_kept_out,
    ),
    check("sizes_beyond_the_limits_are_refused", Scope::Path, refusals::sizes),
    check("unsupported_requests_are_refused", Scope::Worker, refusals::unsupported),
    check("nonsense_specs_are_refused", Scope::Worker, nonsense::specs),
    check("nonsense_commands_end_it", Scope::Worker, nonsense::commands),
    check("unknown_services_are_refused", Scope::Worker, nonsense::unknown_service),
];
