//! Relative references, as far as playlists use them (RFC 3986, 5.2 without the rare corners).

/// The absolute URL that `reference` means in a document at `base`.
pub fn resolve(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let base = base.split(['?', '#']).next().unwrap_or_default();
    let origin_end =
        base.find("://").map_or(0, |at| base[at + 3..].find('/').map_or(base.len(), |n| at + 3 + n));
    let (origin, path) = base.split_at(origin_end);
    if let Some(absolute) = reference.strip_prefix('/') {
        return format!("{origin}/{absolute}");
    }
    let mut folders: Vec<&str> = path.split('/').skip(1).collect();
    folders.pop();
    for step in reference.split('/') {
        match step {
            "." => {}
            ".." => {
                folders.pop();
            }
            name => folders.push(name),
        }
    }
    format!("{origin}/{}", folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_playlists_need_it() {
        let base = "http://h:1/p/m/r/main/hls/v720.m3u8?_HLS_msn=4&x=/";
        for (reference, expected) in [
            ("../v720/3a.m4s", "http://h:1/p/m/r/main/v720/3a.m4s"),
            ("en.m3u8", "http://h:1/p/m/r/main/hls/en.m3u8"),
            ("./en.m3u8", "http://h:1/p/m/r/main/hls/en.m3u8"),
            ("/x/y.m4s", "http://h:1/x/y.m4s"),
            ("https://cdn/x.m4s", "https://cdn/x.m4s"),
            ("../../../../../../../x", "http://h:1/x"),
        ] {
            assert_eq!(resolve(base, reference), expected);
        }
        assert_eq!(resolve("http://h", "x"), "http://h/x");
        assert_eq!(resolve("", "x"), "/x");
    }
}
