//! MQTT with rumqttc, the client of our worker, in the fewest lines: ask, answer, flood and count through a broker.
//!
//! It follows the usual load tools: the connection's own thread hands messages over, answers are sent from it, the client
//! publishes at level 0, and Nagle's algorithm is off. Topics are as long as a trial's, as the broker reads each letter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;

use middlemark_bench_reference::{Role, Task};
use rumqttc::{Client, Connection, Event, MqttOptions, NetworkOptions, Packet, QoS};

const BROKER_PORT: u16 = 21884;
const QUEUE_MESSAGES: usize = 10;
const QUESTIONS: &str = "middlemark_bench_peers__ping";
const ANSWERS: &str = "middlemark_bench_peers__pong";
const FLOOD: &str = "middlemark_bench_peers_flood";

fn main() {
    let task = Task::told();
    let name = format!("bench-peers-{:?}", task.role);
    let mut options = MqttOptions::new(name, "127.0.0.1", BROKER_PORT);
    options.set_max_packet_size(1 << 20, 1 << 20);
    let (client, mut connection) = Client::new(options, QUEUE_MESSAGES);
    let mut network = NetworkOptions::new();
    network.set_tcp_nodelay(true);
    connection.eventloop.set_network_options(network);
    let payload = vec![1; task.size_bytes];
    let topic = match task.role {
        Role::Ping => ANSWERS,
        Role::Pong => QUESTIONS,
        Role::Count => FLOOD,
        Role::Flood => "none",
    };
    client.subscribe(topic, QoS::AtMostOnce).expect("a place in the queue");
    let send = |topic: &str| {
        let sent = client.publish(topic, QoS::AtMostOnce, false, payload.clone());
        sent.expect("the connection's thread runs");
    };
    match task.role {
        Role::Ping => {
            let (answer, answers) = channel();
            receive(connection, move |_| {
                let _ = answer.send(());
            });
            task.ask(|| send(QUESTIONS), |patience| answers.recv_timeout(patience).is_ok());
        }
        Role::Pong => {
            let answering = client.clone();
            receive(connection, move |question| {
                let _ = answering.try_publish(ANSWERS, QoS::AtMostOnce, false, question);
            });
            task.rest();
        }
        Role::Flood => {
            receive(connection, |_| ());
            task.flood(|| send(FLOOD));
        }
        Role::Count => {
            let counted = Arc::new(AtomicU64::new(0));
            let counting = Arc::clone(&counted);
            receive(connection, move |_| {
                counting.fetch_add(1, Relaxed);
            });
            task.count(&counted);
        }
    }
}

/// On a thread of its own.
fn receive(mut connection: Connection, mut hand_over: impl FnMut(Vec<u8>) + Send + 'static) {
    std::thread::spawn(move || {
        for event in connection.iter() {
            if let Event::Incoming(Packet::Publish(message)) = event.expect("a connection to the broker") {
                hand_over(message.payload.into());
            }
        }
    });
}
