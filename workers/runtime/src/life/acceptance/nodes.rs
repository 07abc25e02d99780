//! Whether an application's nodes fit its streams and endpoints; no middleware has a say in it.
//!
//! Pure. What a stream itself needs of the middleware is judged beside the other streams.

use std::collections::HashSet;

use middlemark_contract::{
    ApplicationSpec, Endpoint, NodeSpec, PatternSpec, Readiness, Refusal, Role, TakeSpec, TriggerSpec,
};

use super::require;

const MOST_WAITING: u32 = 65_536;

/// # Errors
/// The first refusal, with the node's name.
pub(super) fn accept(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let mut used = HashSet::new();
    for node in &spec.nodes {
        accept_trigger(node)?;
        for endpoint in endpoints(node) {
            require(spec.endpoints.contains(&endpoint), "spec", || {
                format!(
                    "the node '{}' uses {:?} {} of '{}', which this application does not hold",
                    node.name, endpoint.role, endpoint.index, endpoint.stream
                )
            })?;
            require(is_computed(spec, &endpoint), "spec", || {
                format!(
                    "the node '{}' uses '{}', which has a schedule",
                    node.name, endpoint.stream
                )
            })?;
            let text = format!(
                "two nodes use {:?} {} of '{}'",
                endpoint.role, endpoint.index, endpoint.stream
            );
            require(
                used.insert((endpoint.stream, endpoint.role, endpoint.index)),
                "spec",
                || text,
            )?;
        }
    }
    let lonely = spec.endpoints.iter().find(|endpoint| {
        endpoint.role == Role::Publisher
            && is_computed(spec, endpoint)
            && !used.contains(&(endpoint.stream.clone(), endpoint.role, endpoint.index))
    });
    require(lonely.is_none(), "spec", || format!("no node sends for {lonely:?}"))
}

fn endpoints(node: &NodeSpec) -> impl Iterator<Item = Endpoint> + '_ {
    let inputs = node.inputs.iter().map(|input| Endpoint {
        stream: input.stream.clone(),
        role: Role::Subscriber,
        index: input.index,
    });
    let outputs = node.outputs.iter().map(|output| Endpoint {
        stream: output.stream.clone(),
        role: Role::Publisher,
        index: output.index,
    });
    inputs.chain(outputs)
}

fn is_computed(spec: &ApplicationSpec, endpoint: &Endpoint) -> bool {
    spec.streams
        .iter()
        .any(|stream| stream.name == endpoint.stream && matches!(stream.pattern, PatternSpec::Computed { .. }))
}

fn accept_trigger(node: &NodeSpec) -> Result<(), Refusal> {
    let name = &node.name;
    let has_inputs = match node.trigger {
        TriggerSpec::Source { .. } | TriggerSpec::Unthrottled { .. } => false,
        TriggerSpec::Timer { .. } | TriggerSpec::Message { .. } => true,
    };
    require(has_inputs != node.inputs.is_empty(), "spec", || {
        format!(
            "the node '{name}' has {} inputs and {:?}",
            node.inputs.len(),
            node.trigger
        )
    })?;
    let rate_hz = match node.trigger {
        TriggerSpec::Source { rate_hz } | TriggerSpec::Timer { rate_hz } => rate_hz,
        TriggerSpec::Unthrottled { approach_hz } => approach_hz,
        TriggerSpec::Message { .. } => 1.0,
    };
    require(rate_hz.is_finite() && rate_hz > 0.0, "spec", || {
        format!("a rate of {rate_hz} Hz of the node '{name}'")
    })?;
    let on_any = matches!(node.trigger, TriggerSpec::Message { when: Readiness::Any });
    for input in &node.inputs {
        let fits = match input.take {
            TakeSpec::Newest => !on_any,
            TakeSpec::Queue { capacity } => (1..=MOST_WAITING).contains(&capacity),
        };
        require(fits, "spec", || {
            format!("the node '{name}' can't take {:?} from '{}'", input.take, input.stream)
        })?;
    }
    Ok(())
}
