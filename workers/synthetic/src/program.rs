//! The program: what is to become of messages, as the options say it. Plain numbers; `fate` applies them.

use middlemark_runtime::Options;

/// How delays are distributed; `docs/middlewares/synthetic.md` has the formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// `delay_ns`.
    Fixed,
    /// From `delay_ns` to `delay_ns + jitter_ns`.
    Uniform,
    /// Around `delay_ns` with the deviation `jitter_ns`, cut at three deviations.
    Normal,
    /// `delay_ns`, and beyond it exponentially with the mean `jitter_ns`.
    Exponential,
    /// `delay_ns`, or `delay_ns + jitter_ns`.
    Bimodal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) distribution: Distribution,
    pub(crate) delay_ns: i64,
    pub(crate) jitter_ns: i64,
    pub(crate) second_mode_per_million: u64,
    pub(crate) loss_per_million: u64,
    pub(crate) duplicate_per_million: u64,
    pub(crate) duplicate_delay_ns: i64,
    pub(crate) reorder_per_million: u64,
    pub(crate) reorder_delay_ns: i64,
    /// 0: without a limit.
    pub(crate) bandwidth_bits_per_s: u64,
    pub(crate) release_spin_ns: i64,
    /// No message is released sooner than this after its link began.
    pub(crate) first_message_ns: i64,
    /// No message of the full size is released sooner than this after the first of them was sent.
    pub(crate) first_full_message_ns: i64,
}

impl Program {
    pub(crate) fn of(options: &Options) -> Program {
        let unsigned = |name| options.integer(name).unsigned_abs();
        Program {
            seed: unsigned("seed"),
            distribution: match options.text("distribution") {
                "uniform" => Distribution::Uniform,
                "normal" => Distribution::Normal,
                "exponential" => Distribution::Exponential,
                "bimodal" => Distribution::Bimodal,
                _ => Distribution::Fixed,
            },
            delay_ns: options.integer("delay_ns"),
            jitter_ns: options.integer("jitter_ns"),
            second_mode_per_million: unsigned("second_mode_per_million"),
            loss_per_million: unsigned("loss_per_million"),
            duplicate_per_million: unsigned("duplicate_per_million"),
            duplicate_delay_ns: options.integer("duplicate_delay_ns"),
            reorder_per_million: unsigned("reorder_per_million"),
            reorder_delay_ns: options.integer("reorder_delay_ns"),
            bandwidth_bits_per_s: unsigned("bandwidth_bits_per_s"),
            release_spin_ns: options.integer("release_spin_ns"),
            first_message_ns: options.integer("first_message_ns"),
            first_full_message_ns: options.integer("first_full_message_ns"),
        }
    }
}
