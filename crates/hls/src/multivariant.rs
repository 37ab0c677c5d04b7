//! A programme's multivariant playlist (rfc8216bis 4.4.6).

use std::collections::BTreeSet;
use std::fmt::Write;

use timeline::programme::{Kind, Programme, Track};
use timeline::protection::Protection;

use crate::flavour::Flavour;
use crate::key;
use crate::media::VERSION;

/// The group that all languages are in.
const AUDIO: &str = "audio";

/// The playlist's text. `keys` are those on air and announced; they are said at once, so that a player can ask for
/// licences before it has a media playlist. Every video track is offered with every language; a programme without pictures
/// offers its first language, and the others as its alternatives.
pub fn render(programme: &Programme, keys: &[Protection], flavour: &Flavour) -> String {
    let video: Vec<&Track> = programme.tracks.iter().filter(|t| t.is_video()).collect();
    let audio: Vec<&Track> = programme.tracks.iter().filter(|t| !t.is_video()).collect();
    let mut out = String::new();
    let _ = writeln!(out, "#EXTM3U\n#EXT-X-VERSION:{VERSION}\n#EXT-X-INDEPENDENT-SEGMENTS");
    for key in keys {
        key::lines(&mut out, "#EXT-X-SESSION-KEY", key, flavour.systems);
    }
    languages(&mut out, &audio);
    if video.is_empty() {
        // All audio is in the one group, so the sum with the group's dearest is the group's dearest.
        if let Some(first) = audio.first() {
            variant(&mut out, programme, first, &[], &audio);
        }
    }
    for track in video {
        variant(&mut out, programme, track, std::slice::from_ref(&track), &audio);
    }
    out
}

fn languages(out: &mut String, audio: &[&Track]) {
    let (mut names, mut spoken) = (BTreeSet::new(), BTreeSet::new());
    for (i, track) in audio.iter().enumerate() {
        let Kind::Audio { language, label, channels } = &track.kind else { continue };
        let mut name = quoted(label);
        if name.is_empty() || !names.insert(name.clone()) {
            // NAME must be one of a kind in its group (rfc8216bis 4.4.6.1.1), and is never empty.
            name = format!("{name} ({})", track.name).trim_start().to_owned();
            names.insert(name.clone());
        }
        let language = quoted(language);
        let _ = write!(out, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"{AUDIO}\",NAME=\"{name}\"");
        if !language.is_empty() {
            let _ = write!(out, ",LANGUAGE=\"{language}\"");
        }
        let _ = write!(out, ",DEFAULT={}", if i == 0 { "YES" } else { "NO" });
        // Of several in one language a player could not choose by itself.
        let auto = spoken.insert(language);
        let _ = write!(out, ",AUTOSELECT={}", if auto { "YES" } else { "NO" });
        let _ = writeln!(out, ",CHANNELS=\"{channels}\",URI=\"{}.m3u8\"", track.name);
    }
}

fn variant(out: &mut String, programme: &Programme, track: &Track, video: &[&Track], audio: &[&Track]) {
    let peak = |tracks: &[&Track]| tracks.iter().map(|t| t.peak_bps).max().unwrap_or(0);
    let average = |tracks: &[&Track]| tracks.iter().map(|t| t.average_bps).max().unwrap_or(0);
    let mut codecs: Vec<String> = Vec::new();
    for track in video.iter().chain(audio) {
        let codec = quoted(&track.codecs);
        if !codecs.contains(&codec) {
            codecs.push(codec);
        }
    }
    let _ = write!(
        out,
        "#EXT-X-STREAM-INF:BANDWIDTH={},AVERAGE-BANDWIDTH={},CODECS=\"{}\"",
        peak(video).saturating_add(peak(audio)),
        average(video).saturating_add(average(audio)),
        codecs.join(",")
    );
    if let Kind::Video { width, height } = track.kind {
        let _ = write!(out, ",RESOLUTION={width}x{height},FRAME-RATE={:.3}", programme.grid.frame_rate.hz());
    }
    if !audio.is_empty() {
        let _ = write!(out, ",AUDIO=\"{AUDIO}\"");
    }
    let _ = writeln!(out, "\n{}.m3u8", track.name);
}

/// A label comes with the feed: what a quoted-string cannot hold (rfc8216bis 4.2) is left out.
fn quoted(s: &str) -> String {
    s.chars().filter(|c| !c.is_control() && *c != '"').collect::<String>().trim().to_owned()
}
