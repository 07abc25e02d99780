//! Impairments that follow one another in time, as a moving host's link does.
//!
//! It says which impairments are due at an instant; the relay applies them.

use serde::Deserialize;

use crate::link::impairment::Impairment;

/// From `at_ns` after the trace's start on, these impairments hold; a direction left out stays as it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    /// After the trace's start.
    pub(crate) at_ns: i64,
    /// From the host to the network.
    #[serde(default)]
    pub(crate) outgoing: Option<Impairment>,
    /// From the network to the host.
    #[serde(default)]
    pub(crate) incoming: Option<Impairment>,
}

/// Says what is wrong with a list of points.
pub(crate) fn check(points: &[Point]) -> Result<(), String> {
    for (index, point) in points.iter().enumerate() {
        let place = format!("trace[{index}]");
        if point.at_ns < 0 || (index > 0 && point.at_ns <= points[index - 1].at_ns) {
            return Err(format!("`{place}.at_ns` is {}: it has to grow from 0 on", point.at_ns));
        }
        for (name, impairment) in [("outgoing", &point.outgoing), ("incoming", &point.incoming)] {
            if let Some(impairment) = impairment {
                impairment.check(&format!("{place}.{name}"))?;
            }
        }
    }
    Ok(())
}

/// Where a trace stands.
pub(crate) struct Trace {
    points: Vec<Point>,
    next: usize,
    begin_ns: Option<i64>,
}

impl Trace {
    pub(crate) fn new(points: Vec<Point>) -> Self {
        Self {
            points,
            next: 0,
            begin_ns: None,
        }
    }

    /// What holds before the trace begins.
    pub(crate) fn first(&self) -> Option<&Point> {
        self.points.first()
    }

    /// Starts from the first point at an instant, past or to come.
    pub(crate) fn begin(&mut self, begin_ns: i64) {
        self.begin_ns = Some(begin_ns);
        self.next = 0;
    }

    /// When the next point is due.
    pub(crate) fn next_ns(&self) -> Option<i64> {
        Some(self.begin_ns?.saturating_add(self.points.get(self.next)?.at_ns))
    }

    /// The next point when it is due.
    pub(crate) fn step(&mut self, now_ns: i64) -> Option<&Point> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.next += 1;
        self.points.get(self.next - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(json: &str) -> Vec<Point> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn nothing_is_due_before_the_begin_is_known() {
        let mut trace = Trace::new(points(r#"[{"at_ns": 0, "outgoing": {"delay_ns": 7}}]"#));
        assert_eq!(trace.next_ns(), None);
        assert!(trace.step(i64::MAX).is_none());
        assert_eq!(trace.first().unwrap().outgoing.as_ref().unwrap().delay_ns, 7);
    }

    #[test]
    fn points_come_in_order_each_once_and_late_ones_at_once() {
        let mut trace = Trace::new(points(r#"[{"at_ns": 0}, {"at_ns": 10}, {"at_ns": 20}]"#));
        trace.begin(1000);
        let mut instants = Vec::new();
        for now_ns in [999, 1000, 1000, 1025, 1025, 1025] {
            instants.push(trace.step(now_ns).map(|point| point.at_ns));
        }
        assert_eq!(instants, [None, Some(0), None, Some(10), Some(20), None]);
        assert_eq!(trace.next_ns(), None);
    }

    #[test]
    fn a_point_that_never_comes_is_never_due() {
        let mut trace = Trace::new(points(r#"[{"at_ns": 9223372036854775807}]"#));
        trace.begin(1000);
        assert!(trace.step(2000).is_none());
    }

    #[test]
    fn a_trace_that_does_not_grow_is_refused() {
        assert!(
            check(&points(r#"[{"at_ns": 5}, {"at_ns": 5}]"#))
                .unwrap_err()
                .contains("trace[1].at_ns")
        );
        assert!(check(&points(r#"[{"at_ns": -1}]"#)).is_err());
        assert!(
            check(&points(r#"[{"at_ns": 0, "incoming": {"loss": 3}}]"#))
                .unwrap_err()
                .contains("trace[0].incoming.loss")
        );
    }
}
