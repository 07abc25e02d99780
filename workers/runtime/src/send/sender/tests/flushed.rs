//! What a middleware holds back goes out before any pause: before the window with each message, within it with the last.

use super::*;

/// Tells the phases of what it holds back, each time that it sends them on.
struct HoldsBack {
    held: Vec<Phase>,
    sent_on: std::sync::mpsc::Sender<Vec<Phase>>,
}

impl Publish for HoldsBack {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        self.held.push(header.phase);
        Ok(())
    }

    fn flush(&mut self) {
        let _ = self.sent_on.send(std::mem::take(&mut self.held));
    }
}

#[test]
fn each_message_of_before_the_window_is_sent_on_and_a_flood_once_with_its_last() {
    let (sent_on, told) = std::sync::mpsc::channel();
    let pattern = PatternSpec::Unthrottled {
        approach_hz: 1000.0,
        messages: Some(3),
    };
    let held = Vec::new();
    let sender = sender_with(pattern, Publisher::Copying(Box::new(HoldsBack { held, sent_on })));
    let gate = Arc::clone(&sender.gate);
    let thread = std::thread::spawn(move || run(sender, clock::now_ns()));
    for _ in 0..2 {
        assert_eq!(told.recv(), Ok(vec![Phase::Greeting]));
    }
    gate.approach_from(clock::now_ns());
    assert!(told.iter().any(|phases| phases == [Phase::Approach]));
    let begin_ns = clock::now_ns() + 5_000_000;
    gate.open(Window::joined_at(clock::now_ns(), begin_ns, begin_ns + 100_000_000_000));
    assert_eq!(thread.join().unwrap().map(|counts| counts.sent), Some(3));
    let rest: Vec<_> = told.iter().collect();
    let (last, before) = rest.split_last().unwrap();
    assert_eq!(*last, [Phase::Window; 3]);
    assert!(before.iter().all(|phases| *phases == [Phase::Approach]), "{before:?}");
}
