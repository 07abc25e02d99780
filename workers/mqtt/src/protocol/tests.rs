//! The client's queue, which is alike in both protocols.

use std::thread;

use super::*;

fn message(payload: u8) -> Message {
    Message {
        topic: "t".into(),
        level: QoS::AtLeastOnce,
        retain: false,
        payload: vec![payload],
        properties: Properties::default(),
    }
}

/// A client of each protocol with room for one message, and a connection that nobody drives.
fn clients() -> [(Client, Connection); 2] {
    let v311 = Options::V311(
        Box::new(rumqttc::MqttOptions::new("t", "127.0.0.1", 1)),
        rumqttc::NetworkOptions::new(),
    );
    let v5 = Options::V5(Box::new(rumqttc::v5::MqttOptions::new("t", "127.0.0.1", 1)));
    [v311, v5].map(|options| open(options, 1).unwrap())
}

#[test]
fn a_publish_call_that_finds_the_queue_full_waits_for_room_or_for_its_patience() {
    for (client, connection) in clients() {
        let publish = |patience| client.publish_within(patience, message(1));
        assert!(publish(Duration::ZERO).is_some_and(|done| done.is_ok()));
        assert!(publish(Duration::from_millis(1)).is_none());
        thread::scope(|scope| {
            let waits = scope.spawn(|| publish(Duration::from_secs(3600)));
            // Whoever waits learns that nobody will make room any more.
            drop(connection);
            assert!(waits.join().unwrap().is_some_and(|done| done.is_err()));
        });
    }
}

#[test]
fn a_message_that_finds_no_room_is_given_back_whole() {
    let asking = Properties {
        response_topic: Some("r".into()),
        correlation_data: Some(vec![7]),
    };
    for (properties, (client, _connection)) in [Properties::default(), asking].into_iter().zip(clients()) {
        assert_eq!(client.try_publish(message(1)), None);
        let refused = Message {
            properties,
            ..message(2)
        };
        assert_eq!(client.try_publish(refused.clone()), Some(refused));
    }
}
