//! Zenoh, used as its examples `z_ping`, `z_pong`, `z_pub_thr` and `z_sub_thr` use it.
//!
//! The one who asks waits on the default channel, the one who answers does it in the callback and sends the payload back,
//! both express; the flood shares one payload among all messages and is not express; all block on congestion.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use middlemark_bench_reference::{Role, Task};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::{Config, Result, Session, Wait};

const ENDPOINT: &str = "tcp/127.0.0.1:21447";

fn main() -> Result<()> {
    let task = Task::told();
    let session = zenoh::open(configuration(&task)?).wait()?;
    let payload = ZBytes::from(vec![1; task.size_bytes]);
    match task.role {
        Role::Ping => {
            let publisher = publisher(&session, "ping", true)?;
            let answers = session.declare_subscriber("pong").wait()?;
            task.ask(
                || publisher.put(payload.clone()).wait().expect("the session is open"),
                |patience| answers.recv_timeout(patience).is_ok_and(|answer| answer.is_some()),
            );
        }
        Role::Pong => {
            let publisher = publisher(&session, "pong", true)?;
            let answer = session.declare_subscriber("ping").callback(move |question| {
                let _ = publisher.put(question.payload().clone()).wait();
            });
            let _answering = answer.wait()?;
            task.rest();
        }
        Role::Flood => {
            let publisher = publisher(&session, "flood", false)?;
            task.flood(|| publisher.put(payload.clone()).wait().expect("the session is open"));
        }
        Role::Count => {
            let counted = Arc::new(AtomicU64::new(0));
            let counting = Arc::clone(&counted);
            let count = session.declare_subscriber("flood").callback(move |_| {
                counting.fetch_add(1, Relaxed);
            });
            let _counting = count.wait()?;
            task.count(&counted);
        }
    }
    session.close().wait()
}

/// As shipped, but for where the two find each other; who asks or sends connects.
fn configuration(task: &Task) -> Result<Config> {
    let mut configuration = Config::default();
    let is_passive = matches!(task.role, Role::Pong | Role::Count);
    let (own, other) = if is_passive {
        ("listen/endpoints", "connect/endpoints")
    } else {
        ("connect/endpoints", "listen/endpoints")
    };
    configuration.insert_json5("scouting/multicast/enabled", "false")?;
    configuration.insert_json5(own, &format!("[\"{ENDPOINT}\"]"))?;
    configuration.insert_json5(other, "[]")?;
    Ok(configuration)
}

fn publisher(session: &Session, topic: &'static str, express: bool) -> Result<Publisher<'static>> {
    session
        .declare_publisher(topic)
        .congestion_control(CongestionControl::Block)
        .express(express)
        .wait()
}
