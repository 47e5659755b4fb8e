//! Lists of words in messages, and the word that was likely meant.

/// How many words a list names: the keys of any table, but not all of ten thousand BASes.
const MOST: usize = 40;

/// What was expected: `expected` and the words, in ticks.
pub(super) fn expected<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let ticked: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match ticked.as_slice() {
        [] => "expected nothing here".to_owned(),
        [only] => format!("expected {only}"),
        [first, second] => format!("expected {first} or {second}"),
        many if many.len() <= MOST => format!("expected one of {}", many.join(", ")),
        many => {
            let (first, rest) = many.split_at(MOST);
            format!("expected one of {} and {} more", first.join(", "), rest.len())
        }
    }
}

/// [`expected`], with the likely one first where there is one.
pub(super) fn expected_near<'w>(word: &str, words: impl IntoIterator<Item = &'w str> + Clone) -> String {
    match nearest(word, words.clone()) {
        Some(near) if words.clone().into_iter().count() == 1 => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? {}", expected(words)),
        None => expected(words),
    }
}

/// The word that was likely meant: at most a third of its letters away.
pub(super) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let word = plain(word);
    words
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| {
            let letters = candidate.chars().count();
            *distance <= (letters / 3).max(1) && *distance < letters
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        for (a, b, n) in
            [("", "", 0), ("", "abc", 3), ("path", "pth", 1), ("edge", "egde", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), n, "{a} {b}");
            assert_eq!(distance(b, a), n, "{b} {a}");
        }
    }

    #[test]
    fn only_a_near_word_is_offered() {
        assert_eq!(nearest("intervall", ["timeout", "interval"]), Some("interval"));
        assert_eq!(nearest("max_rows", ["max-rows"]), Some("max-rows"));
        assert_eq!(nearest("bind", ["listen"]), None);
    }

    #[test]
    fn lists_read_as_a_sentence() {
        assert_eq!(expected([]), "expected nothing here");
        assert_eq!(expected(["a"]), "expected `a`");
        assert_eq!(expected(["a", "b"]), "expected `a` or `b`");
        assert_eq!(expected_near("edeg", ["edge"]), "did you mean `edge`?");
        let many: Vec<String> = (0..45).map(|i| i.to_string()).collect();
        assert!(expected(many.iter().map(String::as_str)).ends_with("`38`, `39` and 5 more"));
        assert_eq!(
            expected_near("c", ["a", "bb", "cd"]),
            "did you mean `cd`? expected one of `a`, `bb`, `cd`"
        );
    }
}
