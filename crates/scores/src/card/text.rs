//! Words of both sports.

/// `Chennai Super Kings` and another are `CSK` and its like: initials of several words, the first three letters of one;
/// a word that is short and in capitals stays whole (`Kings XI Punjab`: `KXIP`). Two that come out alike stay long.
pub(super) fn pair<'a>(one: &'a str, other: &'a str) -> (String, String) {
    let (a, b) = (short(one), short(other));
    if a == b { (one.to_owned(), other.to_owned()) } else { (a, b) }
}

fn short(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    match &words[..] {
        [] => String::new(),
        [word] => word.chars().take(3).flat_map(char::to_uppercase).collect(),
        words => words.iter().flat_map(|word| initial(word)).flat_map(char::to_uppercase).collect(),
    }
}

fn initial(word: &str) -> Vec<char> {
    let stays = word.chars().count() <= 3 && word.chars().all(char::is_uppercase);
    word.chars().take(if stays { 3 } else { 1 }).collect()
}

/// With a capital letter first.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn teams_have_the_short_names_that_people_know() {
        let both = |one, other| {
            let (a, b) = pair(one, other);
            [a, b]
        };
        assert_eq!(both("Chennai Super Kings", "Kolkata Knight Riders"), ["CSK", "KKR"]);
        assert_eq!(both("Mumbai Indians", "Kings XI Punjab"), ["MI", "KXIP"]);
        assert_eq!(both("Liverpool", "Arsenal"), ["LIV", "ARS"]);
        assert_eq!(both("Austria", "Australia"), ["Austria", "Australia"]);
        assert_eq!(both("", "Ümit"), ["", "ÜMI"]);
    }
}
