//! MQTT 5: requests of the client and events of its connection, with the properties of requests and responses.

use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, Packet, PublishProperties, Subscribe, SubscribeReasonCode};
use rumqttc::v5::{AsyncClient, ClientError, Request};

use crate::protocol::{Delivered, Event, Message, Properties};

/// Each protocol has the same levels as a type of its own.
pub(super) fn level(level: rumqttc::QoS) -> QoS {
    match level {
        rumqttc::QoS::AtMostOnce => QoS::AtMostOnce,
        rumqttc::QoS::AtLeastOnce => QoS::AtLeastOnce,
        rumqttc::QoS::ExactlyOnce => QoS::ExactlyOnce,
    }
}

fn level_of(level: QoS) -> rumqttc::QoS {
    match level {
        QoS::AtMostOnce => rumqttc::QoS::AtMostOnce,
        QoS::AtLeastOnce => rumqttc::QoS::AtLeastOnce,
        QoS::ExactlyOnce => rumqttc::QoS::ExactlyOnce,
    }
}

fn packed(properties: Properties) -> PublishProperties {
    PublishProperties {
        response_topic: properties.response_topic,
        correlation_data: properties.correlation_data.map(Into::into),
        ..PublishProperties::default()
    }
}

#[inline]
pub(super) fn try_publish(client: &AsyncClient, message: Message) -> Option<Message> {
    let Message {
        topic,
        level: asked,
        retain,
        payload,
        properties,
    } = message;
    match client.try_publish_with_properties(topic, level(asked), retain, payload, packed(properties)) {
        Ok(()) => None,
        Err(ClientError::Request(request) | ClientError::TryRequest(request)) => match request {
            Request::Publish(publish) => {
                let properties = publish.properties.unwrap_or_default();
                Some(Message {
                    topic: String::from_utf8_lossy(&publish.topic).into_owned(),
                    level: level_of(publish.qos),
                    retain: publish.retain,
                    payload: publish.payload.into(),
                    properties: Properties {
                        response_topic: properties.response_topic,
                        correlation_data: properties.correlation_data.map(Into::into),
                    },
                })
            }
            _ => None,
        },
    }
}

/// None where the connection's thread has ended.
pub(super) async fn publish(client: &AsyncClient, message: Message) -> Option<()> {
    let Message {
        topic,
        level: asked,
        retain,
        payload,
        properties,
    } = message;
    let sent = client.publish_with_properties(topic, level(asked), retain, payload, packed(properties));
    sent.await.ok()
}

pub(super) fn subscription<'t>(topics: impl Iterator<Item = (&'t String, rumqttc::QoS)>) -> Request {
    let filters = topics.map(|(topic, asked)| Filter::new(topic.clone(), level(asked)));
    Request::Subscribe(Subscribe::new_many(filters, None))
}

#[inline]
pub(super) fn event(event: rumqttc::v5::Event) -> Event {
    match event {
        rumqttc::v5::Event::Incoming(Packet::Publish(message)) => Event::Message(Delivered::V5(message)),
        rumqttc::v5::Event::Incoming(Packet::ConnAck(_)) => Event::Connected,
        rumqttc::v5::Event::Incoming(Packet::SubAck(answer)) => {
            let is_granted = |code: &SubscribeReasonCode| matches!(code, SubscribeReasonCode::Success(_));
            Event::Subscribed(answer.return_codes.iter().all(is_granted))
        }
        rumqttc::v5::Event::Outgoing(Outgoing::Disconnect) => Event::Closed,
        _ => Event::Other,
    }
}
