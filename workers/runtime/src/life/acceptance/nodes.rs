//! Whether an application's nodes fit its streams and endpoints; no middleware has a say in it.
//!
//! Pure. What a stream itself needs of the middleware is judged beside the other streams.

use std::collections::HashSet;

use middlemark_contract::{
    ApplicationSpec, Endpoint, NodeInput, NodeSpec, PatternSpec, Readiness, Refusal, Role, TakeSpec, TriggerSpec,
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
                    "the node '{}' uses {} {} of '{}', which this application does not hold",
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
                "two nodes use {} {} of '{}'",
                endpoint.role, endpoint.index, endpoint.stream
            );
            require(
                used.insert((endpoint.stream, endpoint.role, endpoint.index)),
                "spec",
                || text,
            )?;
        }
    }
    let unused = spec.endpoints.iter().find(|endpoint| {
        endpoint.role == Role::Publisher
            && is_computed(spec, endpoint)
            && !used.contains(&(endpoint.stream.clone(), endpoint.role, endpoint.index))
    });
    match unused {
        None => Ok(()),
        Some(endpoint) => Err(Refusal {
            capability: "spec".into(),
            reason: format!("no node sends as publisher {} of '{}'", endpoint.index, endpoint.stream),
        }),
    }
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
    let (name, inputs) = (&node.name, node.inputs.len());
    let (runs, needs_inputs) = match node.trigger {
        TriggerSpec::Source { .. } => ("is a source", false),
        TriggerSpec::Unthrottled { .. } => ("is an unthrottled source", false),
        TriggerSpec::Timer { .. } => ("is run by a timer", true),
        TriggerSpec::Message { .. } => ("is run by messages", true),
    };
    require(!needs_inputs || inputs > 0, "spec", || {
        format!("the node '{name}' {runs}, which needs an input, and has none")
    })?;
    require(needs_inputs || inputs == 0, "spec", || {
        format!("the node '{name}' {runs}, which has no input, and has {inputs}")
    })?;
    let rate_hz = match node.trigger {
        TriggerSpec::Source { rate_hz } | TriggerSpec::Timer { rate_hz } => rate_hz,
        TriggerSpec::Unthrottled { approach_hz } => approach_hz,
        TriggerSpec::Message { .. } => 1.0,
    };
    require(rate_hz.is_finite() && rate_hz > 0.0, "spec", || {
        format!("a rate of {rate_hz} Hz of the node '{name}'")
    })?;
    node.inputs.iter().try_for_each(|input| accept_input(node, input))
}

fn accept_input(node: &NodeSpec, input: &NodeInput) -> Result<(), Refusal> {
    let (name, stream) = (&node.name, &input.stream);
    let on_any = matches!(node.trigger, TriggerSpec::Message { when: Readiness::Any });
    match input.take {
        TakeSpec::Newest => require(!on_any, "spec", || {
            format!("the node '{name}' runs for each message, so it can't take only the newest of '{stream}'")
        }),
        TakeSpec::Queue { capacity } => require((1..=MOST_WAITING).contains(&capacity), "spec", || {
            format!("{capacity} messages of '{stream}' may wait at the node '{name}'; 1 to {MOST_WAITING} can")
        }),
    }
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{ComputeSpec, NodeOutput};

    use super::*;

    fn node(trigger: TriggerSpec, takes: &[TakeSpec]) -> NodeSpec {
        let input = |take: &TakeSpec| NodeInput {
            stream: "s".into(),
            index: 0,
            take: *take,
        };
        NodeSpec {
            name: "n".into(),
            number: 0,
            trigger,
            compute: ComputeSpec::Constant { time_ns: 0 },
            seed: 0,
            inputs: takes.iter().map(input).collect(),
            outputs: vec![NodeOutput {
                stream: "t".into(),
                index: 0,
            }],
        }
    }

    #[test]
    fn a_node_that_can_t_run_is_refused_in_the_words_of_a_suite() {
        let source = TriggerSpec::Source { rate_hz: 1.0 };
        let any = TriggerSpec::Message { when: Readiness::Any };
        let reasons = [
            node(TriggerSpec::Timer { rate_hz: 1.0 }, &[]),
            node(source, &[TakeSpec::Newest]),
            node(any, &[TakeSpec::Newest]),
            node(any, &[TakeSpec::Queue { capacity: 0 }]),
        ]
        .map(|node| accept_trigger(&node).unwrap_err().reason);
        assert_eq!(
            reasons,
            [
                "the node 'n' is run by a timer, which needs an input, and has none",
                "the node 'n' is a source, which has no input, and has 1",
                "the node 'n' runs for each message, so it can't take only the newest of 's'",
                "0 messages of 's' may wait at the node 'n'; 1 to 65536 can",
            ]
        );
        assert!(accept_trigger(&node(any, &[TakeSpec::Queue { capacity: 1 }])).is_ok());
    }
}
