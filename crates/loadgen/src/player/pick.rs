//! Which tracks a viewer chooses.

use hls::read::Multivariant;

use super::Options;

/// URIs of the playlists to follow: a picture, and its sound if that is a playlist of its own.
pub(super) fn tracks(list: &Multivariant, options: &Options) -> Result<Vec<String>, String> {
    let fits = |height: u64| list.variants.iter().find(|v| v.resolution.is_some_and(|r| r.1 == height));
    let variant = match options.height {
        Some(height) => fits(height).ok_or_else(|| format!("there is no picture of height {height}"))?,
        None => list.variants.first().ok_or("there is no variant")?,
    };
    let mut chosen = vec![variant.uri.clone()];
    let group = list.audio.iter().filter(|r| Some(&r.group) == variant.audio.as_ref());
    let audio = match &options.language {
        Some(language) => {
            let found = group.clone().find(|r| r.language.as_ref() == Some(language));
            Some(found.ok_or_else(|| format!("there is no sound in {language}"))?)
        }
        None => group.clone().find(|r| r.default).or(group.clone().next()),
    };
    // A programme without pictures has its first language as the variant itself.
    if variant.resolution.is_none() && audio.is_some() {
        chosen.clear();
    }
    chosen.extend(audio.and_then(|r| r.uri.clone()).filter(|uri| !chosen.contains(uri)));
    if chosen.is_empty() {
        chosen.push(variant.uri.clone());
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Mode;

    const LIST: &str = "#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,AUTOSELECT=YES,URI=\"en.m3u8\"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"Hindi\",LANGUAGE=\"hi\",AUTOSELECT=YES,URI=\"hi.m3u8\"
";

    fn chosen(variants: &str, height: Option<u64>, language: Option<&str>) -> Result<Vec<String>, String> {
        let list = hls::read::multivariant(&format!("{LIST}{variants}")).unwrap();
        let (master, language) = (String::new(), language.map(str::to_owned));
        tracks(&list, &Options { master, mode: Mode::Ordinary, height, language, catch_up: false })
    }

    #[test]
    fn a_picture_and_its_sound() {
        let two = "#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=1280x720,AUDIO=\"audio\"\nv720.m3u8\n\
                   #EXT-X-STREAM-INF:BANDWIDTH=5,RESOLUTION=640x360,AUDIO=\"audio\"\nv360.m3u8\n";
        assert_eq!(chosen(two, None, None).unwrap(), ["v720.m3u8", "en.m3u8"]);
        assert_eq!(chosen(two, Some(360), Some("hi")).unwrap(), ["v360.m3u8", "hi.m3u8"]);
        assert!(chosen(two, Some(1080), None).is_err());
        assert!(chosen(two, None, Some("ta")).is_err());
    }

    #[test]
    fn either_alone() {
        assert_eq!(chosen("#EXT-X-STREAM-INF:BANDWIDTH=9\nv.m3u8\n", None, None).unwrap(), ["v.m3u8"]);
        let radio = "#EXT-X-STREAM-INF:BANDWIDTH=9,AUDIO=\"audio\"\nen.m3u8\n";
        assert_eq!(chosen(radio, None, None).unwrap(), ["en.m3u8"]);
        assert_eq!(chosen(radio, None, Some("hi")).unwrap(), ["hi.m3u8"]);
        assert!(chosen("", None, None).is_err());
    }
}
