//! Zenoh's own configuration from a spec and options: the only place where its keys are written.
//!
//! It opens nothing. Keys that no option stands for keep what the library is shipped with (its `DEFAULT_CONFIG.json5`).

use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, Congestion, ServiceSpec};
use middlemark_runtime::{MiddlewareError, Options};
use serde_json::json;
use zenoh::Config;

use crate::places::{Places, ROUTER};
use crate::security::{Key, Secured};

/// The configuration of an application.
pub(crate) fn of_application(
    spec: &ApplicationSpec,
    options: &Options,
    places: &Places,
    secured: &Secured,
) -> Result<Config, MiddlewareError> {
    let mode = options.text("mode");
    let transport = &secured.protocol;
    let fixed = options.text("discovery") == "peers";
    let listen = match (mode, fixed) {
        ("client", _) => vec![],
        (_, true) => vec![places.own_endpoint(transport)],
        (_, false) => vec![places.own_free_endpoint(spec.address, transport)],
    };
    // A client speaks with its router alone; a peer reaches through it those that no scouting on its network finds.
    let router = places.router();
    let mut connect: Vec<_> = router
        .map(|router| places.router_endpoint(router.address, router.index, transport))
        .into_iter()
        .collect();
    if fixed && mode != "client" {
        connect.extend(places.earlier_endpoints(transport));
    }
    let mut keys = shared(mode, &[spec.address], options, places);
    keys.extend(link_keys(options, transport));
    keys.push(("listen/endpoints", json!(listen)));
    keys.push(("connect/endpoints", json!(connect)));
    // All that block wait equally long.
    let blocking = spec.streams.iter().find(|stream| stream.qos.blocks());
    keys.extend(blocking.map(|stream| patience(stream.qos.patience_ns)));
    build(&keys, secured)
}

/// The configuration of a router.
pub(crate) fn of_router(
    spec: &ServiceSpec,
    options: &Options,
    places: &Places,
    secured: &Secured,
) -> Result<Config, MiddlewareError> {
    let transport = &secured.protocol;
    let mut listen: Vec<_> = spec
        .addresses
        .iter()
        .map(|address| places.router_endpoint(*address, spec.index, transport))
        .collect();
    // A Unix socket is one, however many addresses the host has.
    listen.dedup();
    let connect: Vec<_> = spec
        .connects_to()
        .map(|router| places.router_endpoint(router.address, router.index, transport))
        .collect();
    let mut keys = shared(ROUTER, &spec.addresses, options, places);
    keys.extend(link_keys(options, transport));
    keys.push(("listen/endpoints", json!(listen)));
    keys.push(("connect/endpoints", json!(connect)));
    keys.extend((spec.congestion == Congestion::Block).then(|| patience(spec.patience_ns)));
    build(&keys, secured)
}

/// How long a message that blocks waits for room in a link's queue; then Zenoh closes the link.
fn patience(patience_ns: u64) -> Key {
    (
        "transport/link/tx/queue/congestion_control/block/wait_before_close",
        json!(patience_ns / 1000),
    )
}

/// What an application and a router have in common.
fn shared(mode: &str, addresses: &[IpAddr], options: &Options, places: &Places) -> Vec<Key> {
    let multicast = options.text("discovery") == "multicast";
    let lowlatency = options.boolean("lowlatency");
    let interfaces: Vec<_> = addresses.iter().map(IpAddr::to_string).collect();
    let mut keys = vec![
        ("mode", json!(mode)),
        ("scouting/delay", json!(options.integer("scouting_delay_ms"))),
        ("scouting/multicast/enabled", json!(multicast)),
        (
            "scouting/multicast/address",
            json!(format!("224.0.0.224:{}", places.scouting_port())),
        ),
        // As shipped, Zenoh picks the interface; addresses name the host's own without doubt.
        ("scouting/multicast/interface", json!(interfaces.join(","))),
        // An optional object: Zenoh takes it whole or not at all; maximum and factor are those it is shipped with.
        (
            "connect/retry",
            json!({
                "period_init_ms": options.integer("connect_retry_ms"),
                "period_max_ms": 4000,
                "period_increase_factor": 2,
            }),
        ),
        ("transport/unicast/lowlatency", json!(lowlatency)),
        // Zenoh refuses the low latency transport together with priorities.
        ("transport/unicast/qos/enabled", json!(!lowlatency)),
    ];
    keys.extend(shared_memory_keys(options));
    keys
}

fn link_keys(options: &Options, protocol: &str) -> Vec<Key> {
    let mut keys = vec![
        ("transport/link/tx/batch_size", json!(options.integer("batch_bytes"))),
        (
            "transport/link/tx/queue/batching/enabled",
            json!(options.boolean("batching")),
        ),
        (
            "transport/link/tx/queue/size/data",
            json!(options.integer("queue_batches")),
        ),
        (
            "transport/link/rx/buffer_size",
            json!(options.integer("rx_buffer_bytes")),
        ),
    ];
    let socket_buffer_bytes = options.integer("socket_buffer_bytes");
    if socket_buffer_bytes > 0 {
        let (send, receive) = match protocol {
            "tls" => ("transport/link/tls/so_sndbuf", "transport/link/tls/so_rcvbuf"),
            _ => ("transport/link/tcp/so_sndbuf", "transport/link/tcp/so_rcvbuf"),
        };
        keys.extend([send, receive].map(|key| (key, json!(socket_buffer_bytes))));
    }
    keys
}

fn shared_memory_keys(options: &Options) -> Vec<Key> {
    const OPTIMIZATION: &str = "transport/shared_memory/transport_optimization";
    vec![
        (
            "transport/shared_memory/enabled",
            json!(options.boolean("shared_memory")),
        ),
        (
            "transport/shared_memory/mode",
            json!(options.text("shared_memory_mode")),
        ),
        (
            OPTIMIZATION,
            json!({
                "enabled": true,
                "pool_size": options.integer("shared_memory_pool_bytes"),
                "message_size_threshold": options.integer("shared_memory_threshold_bytes"),
            }),
        ),
    ]
}

fn build(keys: &[Key], secured: &Secured) -> Result<Config, MiddlewareError> {
    let mut config = Config::default();
    for (key, value) in keys.iter().chain(&secured.keys) {
        config
            .insert_json5(key, &value.to_string())
            .map_err(|error| format!("zenoh does not take {value} for {key}: {error}"))?;
    }
    for (key, value) in &secured.secrets {
        // Its error may have the value in it.
        config
            .insert_json5(key, &value.to_string())
            .map_err(|_| format!("zenoh does not take what the credentials have for {key}"))?;
    }
    Ok(config)
}
