//! How much is asked for at once: less where an agent cannot answer, more again where it can.

/// The most columns of one request.
const MAX_WIDTH: usize = 10;
/// Good answers in a row after which more is asked for.
const STREAK: u32 = 10;
/// Transmissions of a question that nothing yet shows to be answerable: a smaller one is a
/// better use of the time than a third.
const UNPROVEN_TRIES: u32 = 2;
/// Who configures less than this, the default, is taken at the word: no more is asked for.
const FREE: u32 = 20;
/// The most repetitions that are ever asked for.
const MOST: u32 = 100;
/// Answers larger than half of this, in octets, are not asked to grow.
const LARGE: u64 = 16_384;
/// A table that has so many rows, known before or met with in this walk, is asked for more at
/// once, by an agent that answers quickly: up to as much as a datagram holds.
const MANY: u64 = 2_000;
/// The most repetitions that are ever asked for of such a table.
const MOST_OF_MANY: u32 = 400;
/// Larger than any datagram.
const DATAGRAM: u64 = 65_536;

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
    /// Whether more may be asked for than is configured, as long as answers come whole.
    grows: bool,
    /// Whether that has failed.
    spoilt: bool,
    /// Whether the table has many rows.
    many: bool,
    /// What is configured.
    most: u32,
    streak: u32,
}

/// What a good answer showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Good {
    /// Whether it held all that it was asked for.
    pub(super) whole: bool,
    /// How large it was.
    pub(super) octets: u64,
    /// Whether it came so soon that one of twice the size would come in good time.
    pub(super) quick: bool,
}

impl Stride {
    /// For so many columns. `learnt` is what worked last time, `most` what is configured.
    ///
    /// An answer that comes whole proves that twice as much may be asked for, also beyond what
    /// is configured. Where that fails, what is learnt is one less than configured: then no
    /// more than that is asked for from then on.
    pub(super) fn new(columns: usize, learnt: Option<u32>, most: u32) -> Self {
        let repetitions = learnt.unwrap_or(most);
        Self {
            repetitions,
            ceiling: if repetitions + 1 == most { repetitions } else { most.max(repetitions) },
            grows: most >= FREE && repetitions >= most,
            spoilt: false,
            many: false,
            most,
            width: columns.clamp(1, MAX_WIDTH),
            proven: learnt,
            worked: None,
            probing: false,
            heard_out: false,
            streak: 0,
        }
    }

    /// Asks for a table of so many rows, and its end, at once, where what was learnt is at
    /// least half of that.
    pub(super) fn at_once(mut self, rows: u64) -> Self {
        self.many = rows >= MANY;
        if !self.many && self.repetitions > MOST.max(self.most) {
            // It was a large table.
            self.repetitions = MOST.max(self.most);
            self.ceiling = self.repetitions;
        }
        let whole = u32::try_from(rows + 1 + rows / 16).unwrap_or(u32::MAX);
        if self.grows && whole > self.repetitions && whole <= self.repetitions.saturating_mul(2).min(MOST) {
            self.repetitions = whole;
            self.ceiling = whole;
        }
        self
    }

    /// So many rows of the table have come.
    pub(super) fn met(&mut self, rows: u64) {
        self.many |= rows >= MANY;
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
        let learnt = self.worked.unwrap_or(self.repetitions);
        if self.spoilt { learnt.min(self.most.saturating_sub(1).max(1)) } else { learnt }
    }

    /// The last question got a good answer.
    pub(super) fn good(&mut self, answer: Good) {
        if self.probing {
            self.probing = false;
            return;
        }
        self.worked = Some(self.repetitions);
        self.proven = self.proven.max(Some(self.repetitions));
        let (most, large) = if self.many && answer.quick { (MOST_OF_MANY, DATAGRAM) } else { (MOST, LARGE) };
        if self.grows && answer.whole && answer.octets <= large / 2 {
            self.repetitions = (self.repetitions * 2).min(most.max(self.repetitions));
            self.ceiling = self.repetitions;
            return;
        }
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
        self.spoilt |= self.grows && self.repetitions > self.most;
        self.grows = false;
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

    /// An answer that does not hold all that was asked for.
    const CUT: Good = Good { whole: false, octets: 1_400, quick: true };
    /// One that does.
    const WHOLE: Good = Good { whole: true, octets: 1_400, quick: true };

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
            stride.good(CUT);
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
            stride.good(CUT);
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
        stride.good(CUT);
        assert_eq!((stride.repetitions(), stride.tries(4)), (10, 2));
        stride.good(CUT);
        assert_eq!((stride.repetitions(), stride.tries(4)), (10, 4));
        assert!(stride.smaller(Trouble::Silence));
        assert_eq!((stride.repetitions(), stride.tries(4)), (0, 2));
        assert!(!stride.smaller(Trouble::Silence), "silent to GETNEXT too");
    }

    #[test]
    fn whole_answers_prove_that_more_can_be_asked_for() {
        let mut stride = Stride::new(5, None, 20);
        let mut sizes = Vec::new();
        for _ in 0..5 {
            sizes.push(stride.repetitions());
            stride.good(WHOLE);
        }
        assert_eq!(sizes, [20, 40, 80, 100, 100]);
        assert_eq!(stride.learnt(), 100);
        let mut stride = Stride::new(5, None, 20);
        stride.good(CUT);
        stride.good(Good { whole: true, octets: 9_000, quick: true });
        assert_eq!(stride.repetitions(), 20, "neither a cut answer nor a large one grows");
        let mut careful = Stride::new(5, None, 19);
        careful.good(WHOLE);
        assert_eq!(careful.repetitions(), 19, "configured");
    }

    #[test]
    fn what_was_too_much_beyond_the_configured_size_is_not_tried_in_later_walks() {
        for trouble in [Trouble::Silence, Trouble::TooMuch] {
            let mut stride = Stride::new(5, None, 20);
            stride.good(WHOLE);
            assert_eq!(stride.repetitions(), 40);
            assert!(stride.smaller(trouble));
            stride.good(WHOLE);
            stride.good(WHOLE);
            assert_eq!(stride.repetitions(), 20);
            let mut later = Stride::new(5, Some(stride.learnt()), 20);
            for _ in 0..50 {
                assert_eq!(later.repetitions(), 19);
                later.good(WHOLE);
            }
            assert_eq!(later.learnt(), 19);
        }
    }

    #[test]
    fn a_known_table_is_asked_for_at_once_where_half_of_it_is_proven() {
        assert_eq!(Stride::new(5, Some(40), 20).at_once(50).repetitions(), 54);
        assert_eq!(Stride::new(5, Some(54), 20).at_once(50).repetitions(), 54);
        assert_eq!(Stride::new(5, Some(20), 20).at_once(50).repetitions(), 20);
        assert_eq!(Stride::new(5, Some(19), 20).at_once(20).repetitions(), 19, "it was too much before");
        assert_eq!(Stride::new(5, Some(100), 20).at_once(150).repetitions(), 100);
        let mut stride = Stride::new(5, Some(40), 20).at_once(50);
        assert_eq!(stride.tries(4), 2, "that much is not proven yet");
        assert!(stride.smaller(Trouble::TooMuch));
        assert_eq!(stride.repetitions(), 27);
    }

    #[test]
    fn a_large_table_is_asked_for_as_much_as_a_datagram_holds_where_the_agent_is_quick() {
        let sizes = |quick, octets: fn(u32) -> u64| {
            let mut stride = Stride::new(5, None, 20).at_once(100_000);
            let sizes = (0..7).map(|_| {
                let asked = stride.repetitions();
                stride.good(Good { whole: true, octets: octets(asked), quick });
                asked
            });
            sizes.collect::<Vec<_>>()
        };
        assert_eq!(sizes(true, |asked| u64::from(asked) * 160), [20, 40, 80, 160, 320, 320, 320]);
        assert_eq!(sizes(true, |asked| u64::from(asked) * 50), [20, 40, 80, 160, 320, 400, 400]);
        assert_eq!(sizes(false, |asked| u64::from(asked) * 160), [20, 40, 80, 80, 80, 80, 80]);
        assert_eq!(Stride::new(5, Some(320), 20).at_once(100_000).repetitions(), 320);
        assert_eq!(Stride::new(5, Some(320), 20).at_once(50).repetitions(), 100, "it is a small one by now");
    }

    #[test]
    fn a_table_that_turns_out_to_be_large_is_asked_for_as_one_that_is_known_to_be() {
        let mut stride = Stride::new(5, None, 20);
        let (mut rows, mut sizes) = (0, Vec::new());
        while rows < 5_000 {
            let asked = stride.repetitions();
            sizes.push(asked);
            rows += u64::from(asked);
            stride.met(rows);
            stride.good(Good { whole: true, octets: u64::from(asked) * 125, quick: true });
        }
        // 20 and 40, then 80 (answers of 10,000 octets) until 2,000 rows have come: 60 + 25 x 80.
        assert_eq!(sizes[..2], [20, 40]);
        assert_eq!(sizes[2..27], [80; 25]);
        assert_eq!(sizes[27..], [160, 320, 320, 320, 320, 320, 320, 320, 320, 320]);
        let mut slow = Stride::new(5, None, 20);
        slow.met(5_000);
        (0..9).for_each(|_| slow.good(Good { quick: false, octets: 10_000, ..WHOLE }));
        assert_eq!(slow.repetitions(), 20, "an answer of more than a half of 16 KB");
    }

    #[test]
    fn other_trouble_ends_the_walk() {
        assert!(!Stride::new(12, None, 20).smaller(Trouble::Other));
    }
}
