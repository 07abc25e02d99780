//! The policies of DDS in Dust DDS's types, and back in words; it creates nothing.

use std::time::Duration as StdDuration;

use dust_dds::infrastructure::qos::{DataReaderQos, DataWriterQos};
use dust_dds::infrastructure::qos_policy::{
    DeadlineQosPolicy, DurabilityQosPolicy, DurabilityQosPolicyKind, HistoryQosPolicy, HistoryQosPolicyKind, Length,
    ReliabilityQosPolicy, ReliabilityQosPolicyKind, ResourceLimitsQosPolicy,
};
use dust_dds::infrastructure::time::{Duration, DurationKind};
use middlemark_contract::{Durability, Qos};
use middlemark_dds::Policies;

/// No limit of samples, in [`Policies`].
const UNLIMITED: i32 = -1;

/// What writers offer as their deadline. The library reads 2^31 s less a nanosecond where others write that a duration is
/// infinite, so that with none of its own it would refuse the readers of whoever writes that, as Fast DDS does.
const DEADLINE: Duration = Duration::new(24 * 60 * 60, 0);

/// So many messages at most keeps a writer for readers that come late: as many as an acknowledgement can ask for. Every repeated
/// one asks for an acknowledgement, and whatever is missing then is repeated for each of these. With room for 4096, RustDDS's
/// readers, which had heard of the writer seconds late, got through its history within 7 s in only 8 of 24 trials. A writer
/// that keeps nothing for them has the room of its queue: it waits for a killed reader too, until the library gives that up.
const MOST_FOR_LATE_READERS: i32 = 256;

/// So many at most where no schedule holds the writer back. With 82 missing, of 340 that a client had sent before the first
/// answer, a busy machine repeated 15 000 within a second, and the first that was missing never arrived.
const MOST_WITHOUT_SCHEDULE: i32 = 32;

/// Up to so many publishers of a trial have the room of their queues.
const FEW_PUBLISHERS: usize = 16;

/// So many at most have all publishers of a trial together under way where these are more. A reader that meets a writer when
/// this has sent n messages already has n (n + 1) / 2 of them repeated, as each repeated one asks for an acknowledgement, and
/// each acknowledgement for all that are still missing. With 64 topics and room for 4096 messages each no trial of three had
/// all first messages within 30 s; with room for 8 each they were there after 0.12 and 1.1 s, for 64 each after 3.1 s.
const MOST_OF_MANY: usize = 512;

/// So many at least may each of many have under way: what the smallest queue has room for.
const LEAST_OF_MANY: usize = 4;

/// Who else publishes in a writer's trial, and what holds the writer back.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) is_scheduled: bool,
    /// Of the whole trial, whichever application has them.
    pub(crate) publishers: usize,
}

impl Pace {
    /// The most messages that a writer keeps, whatever its queue has room for.
    fn most(self, durability: Durability) -> i32 {
        let together = match self.publishers {
            0..=FEW_PUBLISHERS => i32::MAX,
            many => (MOST_OF_MANY / many).max(LEAST_OF_MANY) as i32,
        };
        let alone = match (self.is_scheduled, durability) {
            (false, _) => MOST_WITHOUT_SCHEDULE,
            (true, Durability::TransientLocal) => MOST_FOR_LATE_READERS,
            (true, Durability::Volatile) => i32::MAX,
        };
        together.min(alone)
    }
}

/// What a writer of messages of this size is asked for. With `KEEP_ALL` it would keep what is acknowledged too, until it has no
/// room left for good; of the last it overwrites nothing that is not acknowledged, and waits as `KEEP_ALL` has to.
pub(crate) fn of_writer(qos: Qos, size_bytes: usize, pace: Pace) -> DataWriterQos {
    let policies = Policies::of(qos, size_bytes, UNLIMITED);
    DataWriterQos {
        reliability: reliability(&policies),
        durability: durability(&policies),
        history: HistoryQosPolicy {
            kind: HistoryQosPolicyKind::KeepLast(policies.max_samples.min(pace.most(qos.durability)) as u32),
        },
        deadline: DeadlineQosPolicy {
            period: DurationKind::Finite(DEADLINE),
        },
        ..DataWriterQos::const_default()
    }
}

/// What a reader of messages of this size is asked for. What it has no room for is lost, as it is acknowledged before.
pub(crate) fn of_reader(qos: Qos, size_bytes: usize) -> DataReaderQos {
    let policies = Policies::of_early_acknowledging_reader(qos, size_bytes, UNLIMITED);
    DataReaderQos {
        reliability: reliability(&policies),
        durability: durability(&policies),
        history: HistoryQosPolicy {
            kind: HistoryQosPolicyKind::KeepAll,
        },
        resource_limits: ResourceLimitsQosPolicy {
            max_samples: Length::Limited(policies.max_samples),
            max_instances: Length::Unlimited,
            max_samples_per_instance: Length::Limited(policies.max_samples),
        },
        ..DataReaderQos::const_default()
    }
}

fn reliability(policies: &Policies) -> ReliabilityQosPolicy {
    let max_blocking_time = StdDuration::from_nanos(policies.max_blocking_ns as u64).into();
    ReliabilityQosPolicy {
        kind: if policies.reliable == 1 {
            ReliabilityQosPolicyKind::Reliable
        } else {
            ReliabilityQosPolicyKind::BestEffort
        },
        max_blocking_time: DurationKind::Finite(max_blocking_time),
    }
}

fn durability(policies: &Policies) -> DurabilityQosPolicy {
    let kind = if policies.transient_local == 1 {
        DurabilityQosPolicyKind::TransientLocal
    } else {
        DurabilityQosPolicyKind::Volatile
    };
    DurabilityQosPolicy { kind }
}

/// The policies that a writer has, in words.
pub(crate) fn writer_words(qos: &DataWriterQos) -> String {
    let words = words(&qos.reliability, &qos.durability, &qos.history, &qos.resource_limits);
    match qos.deadline.period {
        DurationKind::Finite(deadline) => format!("{words}, DEADLINE {} s", deadline.sec()),
        DurationKind::Infinite => words,
    }
}

/// The policies that a reader has, in words.
pub(crate) fn reader_words(qos: &DataReaderQos) -> String {
    words(&qos.reliability, &qos.durability, &qos.history, &qos.resource_limits)
}

fn words(
    reliability: &ReliabilityQosPolicy,
    durability: &DurabilityQosPolicy,
    history: &HistoryQosPolicy,
    limits: &ResourceLimitsQosPolicy,
) -> String {
    let policies = Policies {
        reliable: i32::from(reliability.kind == ReliabilityQosPolicyKind::Reliable),
        depth: match history.kind {
            HistoryQosPolicyKind::KeepLast(depth) => depth as i32,
            HistoryQosPolicyKind::KeepAll => 0,
        },
        transient_local: i32::from(durability.kind == DurabilityQosPolicyKind::TransientLocal),
        max_samples: match limits.max_samples {
            Length::Limited(samples) => samples,
            Length::Unlimited => UNLIMITED,
        },
        max_blocking_ns: match reliability.max_blocking_time {
            DurationKind::Finite(duration) => StdDuration::from(duration).as_nanos() as i64,
            DurationKind::Infinite => i64::MAX,
        },
    };
    policies.words()
}

#[cfg(test)]
mod tests {
    use dust_dds::xtypes::data_storage::DataStorage;
    use dust_dds::xtypes::dynamic_type::DynamicDataFactory;
    use dust_dds::xtypes::type_support::TypeSupport;

    use super::*;

    const ALONE: Pace = Pace {
        is_scheduled: true,
        publishers: 1,
    };

    const FREE: Pace = Pace {
        is_scheduled: false,
        publishers: 1,
    };

    #[test]
    fn a_writer_keeps_as_many_as_its_queue_has_room_for_within_bounds_and_a_reader_more() {
        let small = Qos {
            queue_bytes: 1 << 20,
            durability: Durability::TransientLocal,
            ..Qos::RELIABLE
        };
        assert_eq!(
            writer_words(&of_writer(small, 16_384, ALONE)),
            "RELIABLE (max_blocking_time 5000 ms), KEEP_LAST 64, TRANSIENT_LOCAL, DEADLINE 86400 s"
        );
        assert!(writer_words(&of_writer(small, 1024, ALONE)).contains("KEEP_LAST 256"));
        let volatile = Qos {
            durability: Durability::Volatile,
            ..small
        };
        assert!(writer_words(&of_writer(volatile, 1024, ALONE)).contains("KEEP_LAST 1024"));
        assert!(writer_words(&of_writer(small, 16_384, FREE)).contains("KEEP_LAST 32"));
        assert!(writer_words(&of_writer(small, 65_536, FREE)).contains("KEEP_LAST 16"));
        assert_eq!(
            reader_words(&of_reader(small, 16_384)),
            "RELIABLE (max_blocking_time 5000 ms), KEEP_ALL (max_samples 1024), TRANSIENT_LOCAL"
        );
    }

    #[test]
    fn the_more_publishers_a_trial_has_the_fewer_messages_each_keeps_but_all_have_room_for_a_few() {
        let kept = |publishers, durability| {
            let pace = Pace { publishers, ..ALONE };
            let qos = Qos {
                durability,
                ..Qos::RELIABLE
            };
            of_writer(qos, 64, pace).history.kind
        };
        let volatile = [16, 17, 64, 1000].map(|publishers| kept(publishers, Durability::Volatile));
        assert_eq!(volatile, [4096, 30, 8, 4].map(HistoryQosPolicyKind::KeepLast));
        let kept_for_late_readers = [16, 17].map(|publishers| kept(publishers, Durability::TransientLocal));
        assert_eq!(kept_for_late_readers, [256, 30].map(HistoryQosPolicyKind::KeepLast));
    }

    #[test]
    fn best_effort_is_said_so() {
        let words = writer_words(&of_writer(Qos::BEST_EFFORT, 1 << 20, ALONE));
        assert!(words.starts_with("BEST_EFFORT, KEEP_LAST "), "{words}");
    }

    #[test]
    fn the_library_reads_an_infinite_duration_as_a_finite_one_for_which_writers_offer_a_deadline() {
        let mut infinite = DynamicDataFactory::create_data(DurationKind::get_type());
        infinite.set_value(0, DataStorage::Int32(i32::MAX));
        infinite.set_value(1, DataStorage::UInt32(u32::MAX));
        let read = DurationKind::create_sample(&mut infinite).unwrap();
        assert_eq!(read, DurationKind::Finite(Duration::new(i32::MAX, 999_999_999)));
        assert!(DurationKind::Infinite > read && DurationKind::Finite(DEADLINE) < read);
    }
}
