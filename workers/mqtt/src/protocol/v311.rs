//! MQTT 3.1.1: requests of the client and events of its connection. It has no properties.

use rumqttc::{
    AsyncClient, ClientError, Outgoing, Packet, QoS, Request, Subscribe, SubscribeFilter, SubscribeReasonCode,
};

use crate::protocol::{Delivered, Event, Message, Properties};

#[inline]
pub(super) fn try_publish(client: &AsyncClient, message: Message) -> Option<Message> {
    let Message {
        topic,
        level,
        retain,
        payload,
        ..
    } = message;
    match client.try_publish(topic, level, retain, payload) {
        Ok(()) => None,
        Err(ClientError::Request(request) | ClientError::TryRequest(request)) => match request {
            Request::Publish(publish) => Some(Message {
                topic: publish.topic,
                level: publish.qos,
                retain: publish.retain,
                payload: publish.payload.into(),
                properties: Properties::default(),
            }),
            _ => None,
        },
    }
}

/// None where the connection's thread has ended.
pub(super) async fn publish(client: &AsyncClient, message: Message) -> Option<()> {
    let Message {
        topic,
        level,
        retain,
        payload,
        ..
    } = message;
    client.publish(topic, level, retain, payload).await.ok()
}

pub(super) fn subscription<'t>(topics: impl Iterator<Item = (&'t String, QoS)>) -> Request {
    Request::Subscribe(Subscribe::new_many(
        topics.map(|(topic, level)| SubscribeFilter::new(topic.clone(), level)),
    ))
}

#[inline]
pub(super) fn event(event: rumqttc::Event) -> Event {
    match event {
        rumqttc::Event::Incoming(Packet::Publish(message)) => Event::Message(Delivered::V311(message)),
        rumqttc::Event::Incoming(Packet::ConnAck(_)) => Event::Connected,
        rumqttc::Event::Incoming(Packet::SubAck(answer)) => {
            let refused = answer.return_codes.contains(&SubscribeReasonCode::Failure);
            Event::Subscribed(!refused)
        }
        rumqttc::Event::Outgoing(Outgoing::Disconnect) => Event::Closed,
        _ => Event::Other,
    }
}
