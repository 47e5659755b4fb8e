//! How much is asked for at once: less where an agent cannot answer, more again where it can.

/// The most columns of one request.
const MAX_WIDTH: usize = 10;
/// Good answers in a row after which more is asked for.
const STREAK: u32 = 10;
/// Transmissions of a question that nothing yet shows to be answerable: a smaller one is a
/// better use of the time than a third.
const UNPROVEN_TRIES: u32 = 2;

/// What became of a question, as far as the size of the next one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The agent said or showed that it cannot answer this much.
    TooMuch,
    /// Nothing came.
    Silence,
    /// A smaller question would not help.
    Other,
}

/// The size of the next question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride {
    /// Repetitions of a GETBULK; 0 is a GETNEXT.
    repetitions: u32,
    /// Nothing above this is tried in this walk.
    ceiling: u32,
    /// Columns in one request.
    width: usize,
    /// The largest number of repetitions that was answered.
    proven: Option<u32>,
    /// The size of the last good answer.
    worked: Option<u32>,
    /// Whether the next question is a GETNEXT that finds out if the agent is there at all.
    probing: bool,
    /// Whether the silence before the probe was heard out with all transmissions.
    heard_out: bool,
    streak: u32,
}

impl Stride {
    /// For so many columns. `learnt` is what worked last time, `most` what is configured.
    pub(super) fn new(columns: usize, learnt: Option<u32>, most: u32) -> Self {
        let repetitions = learnt.unwrap_or(most);
        Self {
            repetitions,
            ceiling: most.max(repetitions),
            width: columns.clamp(1, MAX_WIDTH),
            proven: learnt,
            worked: None,
            probing: false,
            heard_out: false,
            streak: 0,
        }
    }

    /// Repetitions of the next question; 0 is a GETNEXT.
    pub(super) fn repetitions(&self) -> u32 {
        if self.probing { 0 } else { self.repetitions }
    }

    /// Columns of the next question, at most.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Transmissions of the next question, of `most`.
    pub(super) fn tries(&self, most: u32) -> u32 {
        let doubtful = if self.probing { self.heard_out } else { !self.is_proven() && self.repetitions > 0 };
        if doubtful { most.min(UNPROVEN_TRIES) } else { most }
    }

    /// The repetitions that worked last.
    pub(super) fn learnt(&self) -> u32 {
        self.worked.unwrap_or(self.repetitions)
    }

    /// The last question got a good answer.
    pub(super) fn good(&mut self) {
        if self.probing {
            self.probing = false;
            return;
        }
        self.worked = Some(self.repetitions);
        self.proven = self.proven.max(Some(self.repetitions));
        self.streak += 1;
        if self.streak >= STREAK && self.repetitions < self.ceiling {
            self.repetitions = (self.repetitions * 2).clamp(1, self.ceiling);
            self.streak = 0;
        }
    }

    /// The last question failed. False where no smaller one is left to try.
    pub(super) fn smaller(&mut self, trouble: Trouble) -> bool {
        self.streak = 0;
        match trouble {
            Trouble::Other => false,
            Trouble::Silence if self.repetitions() == 0 => false,
            Trouble::Silence => {
                self.heard_out = self.is_proven();
                self.halve();
                self.probing = true;
                true
            }
            Trouble::TooMuch if self.repetitions() > 0 => {
                self.halve();
                true
            }
            Trouble::TooMuch if self.width > 1 => {
                self.width /= 2;
                true
            }
            Trouble::TooMuch => false,
        }
    }

    fn halve(&mut self) {
        self.repetitions /= 2;
        self.ceiling = self.repetitions;
    }

    fn is_proven(&self) -> bool {
        self.proven.is_some_and(|proven| proven >= self.repetitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_halved_down_to_getnext_and_then_to_one_column() {
        let mut stride = Stride::new(12, None, 20);
        let mut seen = vec![(stride.repetitions(), stride.width())];
        while stride.smaller(Trouble::TooMuch) {
            seen.push((stride.repetitions(), stride.width()));
        }
        assert_eq!(seen, [(20, 10), (10, 10), (5, 10), (2, 10), (1, 10), (0, 10), (0, 5), (0, 2), (0, 1)]);
    }

    #[test]
    fn no_more_columns_are_asked_for_than_there_are() {
        let mut stride = Stride::new(3, Some(0), 20);
        assert_eq!(stride.width(), 3);
        assert!(stride.smaller(Trouble::TooMuch));
        assert_eq!(stride.width(), 1);
        assert!(!stride.smaller(Trouble::TooMuch));
    }

    #[test]
    fn a_size_that_failed_is_not_tried_again_in_the_same_walk() {
        let mut stride = Stride::new(12, None, 20);
        assert!(stride.smaller(Trouble::TooMuch));
        for _ in 0..100 {
            stride.good();
            assert_eq!(stride.repetitions(), 10);
        }
        assert_eq!(stride.learnt(), 10);
    }

    #[test]
    fn what_was_learnt_small_grows_back_to_what_is_configured() {
        let mut stride = Stride::new(12, Some(0), 20);
        let mut sizes = Vec::new();
        for _ in 0..80 {
            sizes.push(stride.repetitions());
            stride.good();
        }
        sizes.dedup();
        assert_eq!(sizes, [0, 1, 2, 4, 8, 16, 20]);
        assert_eq!(stride.learnt(), 20);
    }

    #[test]
    fn silence_is_answered_by_one_getnext_before_a_smaller_bulk() {
        let mut stride = Stride::new(12, None, 20);
        assert_eq!((stride.repetitions(), stride.tries(4)), (20, 2));
        assert!(stride.smaller(Trouble::Silence));
        assert_eq!((stride.repetitions(), stride.tries(4)), (0, 4));
        stride.good();
        assert_eq!((stride.repetitions(), stride.tries(4)), (10, 2));
        stride.good();
        assert_eq!((stride.repetitions(), stride.tries(4)), (10, 4));
        assert!(stride.smaller(Trouble::Silence));
        assert_eq!((stride.repetitions(), stride.tries(4)), (0, 2));
        assert!(!stride.smaller(Trouble::Silence), "silent to GETNEXT too");
    }

    #[test]
    fn other_trouble_ends_the_walk() {
        assert!(!Stride::new(12, None, 20).smaller(Trouble::Other));
    }
}
