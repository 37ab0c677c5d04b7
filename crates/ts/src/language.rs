//! What a language is called: ISO 639-2 in transport streams, BCP 47 in playlists, its own name for people.

/// A language of sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    /// BCP 47 tag, such as `hi`; `und` when nobody says.
    pub tag: String,
    /// In the language itself, such as `हिन्दी`; the code where its name is not known here.
    pub label: String,
}

impl Language {
    /// From an ISO 639-2 code, as [`crate::Stream::language`] has it. A code without a two-letter form is
    /// its own tag (RFC 5646, 2.2.1).
    pub fn of(code: Option<&str>) -> Language {
        let code = code.unwrap_or("und");
        let known = NAMES.iter().find(|(codes, ..)| codes.split(' ').any(|known| known == code));
        let (tag, label) = known.map_or((code, code), |(_, tag, label)| (*tag, *label));
        Language { tag: tag.to_owned(), label: label.to_owned() }
    }
}

/// ISO 639-2 (both the terminological and the bibliographic code where they differ), BCP 47, own name.
const NAMES: &[(&str, &str, &str)] = &[
    ("eng", "en", "English"),
    ("hin", "hi", "हिन्दी"),
    ("tam", "ta", "தமிழ்"),
    ("tel", "te", "తెలుగు"),
    ("kan", "kn", "ಕನ್ನಡ"),
    ("mal", "ml", "മലയാളം"),
    ("ben", "bn", "বাংলা"),
    ("mar", "mr", "मराठी"),
    ("guj", "gu", "ગુજરાતી"),
    ("pan", "pa", "ਪੰਜਾਬੀ"),
    ("ori", "or", "ଓଡ଼ିଆ"),
    ("asm", "as", "অসমীয়া"),
    ("urd", "ur", "اردو"),
    ("nep", "ne", "नेपाली"),
    ("sin", "si", "සිංහල"),
    ("bho", "bho", "भोजपुरी"),
    ("ara", "ar", "العربية"),
    ("fas per", "fa", "فارسی"),
    ("heb", "he", "עברית"),
    ("tur", "tr", "Türkçe"),
    ("ell gre", "el", "Ελληνικά"),
    ("rus", "ru", "Русский"),
    ("ukr", "uk", "Українська"),
    ("bul", "bg", "Български"),
    ("srp scc", "sr", "Српски"),
    ("hrv scr", "hr", "Hrvatski"),
    ("slv", "sl", "Slovenščina"),
    ("slk slo", "sk", "Slovenčina"),
    ("ces cze", "cs", "Čeština"),
    ("pol", "pl", "Polski"),
    ("hun", "hu", "Magyar"),
    ("ron rum", "ro", "Română"),
    ("deu ger", "de", "Deutsch"),
    ("nld dut", "nl", "Nederlands"),
    ("fra fre", "fr", "Français"),
    ("spa", "es", "Español"),
    ("cat", "ca", "Català"),
    ("eus baq", "eu", "Euskara"),
    ("glg", "gl", "Galego"),
    ("por", "pt", "Português"),
    ("ita", "it", "Italiano"),
    ("cym wel", "cy", "Cymraeg"),
    ("gle", "ga", "Gaeilge"),
    ("swe", "sv", "Svenska"),
    ("nor", "no", "Norsk"),
    ("dan", "da", "Dansk"),
    ("fin", "fi", "Suomi"),
    ("isl ice", "is", "Íslenska"),
    ("est", "et", "Eesti"),
    ("lav", "lv", "Latviešu"),
    ("lit", "lt", "Lietuvių"),
    ("zho chi", "zh", "中文"),
    ("jpn", "ja", "日本語"),
    ("kor", "ko", "한국어"),
    ("vie", "vi", "Tiếng Việt"),
    ("tha", "th", "ไทย"),
    ("ind", "id", "Bahasa Indonesia"),
    ("msa may", "ms", "Bahasa Melayu"),
    ("fil", "fil", "Filipino"),
    ("swa", "sw", "Kiswahili"),
    ("afr", "af", "Afrikaans"),
    ("zul", "zu", "isiZulu"),
    ("xho", "xh", "isiXhosa"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_in_their_own_words() {
        let of = |code| {
            let Language { tag, label } = Language::of(code);
            (tag, label)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of(Some("hin")), pair("hi", "हिन्दी"));
        assert_eq!(of(Some("ger")), of(Some("deu")));
        assert_eq!(of(Some("tlh")), pair("tlh", "tlh"));
        assert_eq!(of(None), pair("und", "und"));
    }

    #[test]
    fn no_code_twice() {
        let mut codes: Vec<_> = NAMES.iter().flat_map(|(codes, ..)| codes.split(' ')).collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
