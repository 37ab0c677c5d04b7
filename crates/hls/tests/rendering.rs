//! For any snapshot the text is HLS, says what the snapshot says, and breaks no rule.
#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod generated;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use generated::{any_match, nearest_tens_of_us, tens_of_us};
use hls::flavour::{FLAVOURS, Flavour};
use hls::read::Playlist;
use hls::{Media, check, read, render};
use proptest::prelude::*;

const HLS: &Flavour = &FLAVOURS[0];

fn whole(media: &Media) -> Playlist {
    let text = render(media, false, HLS);
    read::playlist(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The text says exactly the snapshot: compared field by field, not through the renderer.
fn says(list: &Playlist, media: &Media) {
    let first = media.segments.front().map_or(media.open.as_ref().map(|o| o.msn), |s| Some(s.msn));
    assert_eq!(Some(list.media_sequence), first);
    assert_eq!(list.discontinuity_sequence, media.discontinuity_sequence);
    assert_eq!((list.skipped, list.ended), (0, media.ended));
    assert_eq!(list.target_duration, media.grid.target_duration());
    assert_eq!(list.segments.len(), media.segments.len());
    assert_eq!(list.next(), media.next());
    assert_eq!(list.hint.is_some(), media.hint.is_some() && !media.ended);
    for (read, segment) in list.segments.iter().zip(&media.segments) {
        let letter = segment.source.map_or("a".to_owned(), |l| l.to_string());
        assert_eq!(read.uri, format!("../v720/{}{letter}.m4s", segment.msn));
        assert_eq!(read.gap, segment.source.is_none());
        assert_eq!(tens_of_us(read.duration), nearest_tens_of_us(segment.duration));
        assert_eq!(read.head.pdt.unwrap().to_string(), media.epoch.plus(segment.start).to_string());
        assert_eq!(read.head.discontinuity, segment.discontinuity);
        assert_eq!(read.head.keys.len(), if segment.key.is_some() { HLS.systems.len() } else { 0 });
        if let Some(key) = segment.key {
            let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(key.kid.0));
            assert!(
                read.head.keys.iter().any(|read| read.uri.as_ref() == Some(&uri)),
                "{:?}",
                read.head.keys
            );
        }
        assert_eq!(read.head.map, Some(format!("../v720/init-{}.mp4", segment.init)));
        assert!(read.parts.is_empty() || read.parts.len() == segment.parts.len());
    }
    let opens = list.open.iter().flat_map(|o| &o.parts).zip(media.open.iter().flat_map(|o| &o.parts));
    for (read, part) in opens {
        let msn = media.open.as_ref().unwrap().msn;
        assert_eq!(read.uri, format!("../v720/{msn}{}.{}.m4s", part.letter, part.index));
        assert_eq!((read.gap, read.independent), (part.gap, part.independent && !part.gap));
        assert_eq!(tens_of_us(read.duration), nearest_tens_of_us(part.duration));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_playlist_of_a_match_is_valid(game in any_match()) {
        let mut earlier: Option<Playlist> = None;
        for media in game.snapshots() {
            let list = whole(&media);
            says(&list, &media);
            prop_assert_eq!(check::one(&list), vec![]);
            if let Some(earlier) = &earlier {
                prop_assert_eq!(check::two(earlier, &list), vec![]);
            }
            earlier = Some(list);
        }
    }

    /// A client that is a few reloads behind completes a delta to exactly the whole playlist.
    #[test]
    fn a_delta_completes_to_the_whole(game in any_match(), behind in 1usize..20) {
        let snapshots = game.snapshots();
        for (i, media) in snapshots.iter().enumerate() {
            let text = render(media, true, HLS);
            let delta = read::playlist(&text).unwrap();
            prop_assert_eq!(check::one(&delta), vec![]);
            prop_assert_eq!(delta.skipped as usize, media.skippable());
            let before = whole(&snapshots[i.saturating_sub(behind)]);
            match delta.complete(&before) {
                Ok(completed) => prop_assert_eq!(completed, whole(media)),
                // Only when it is further behind than the Skip Boundary.
                Err(_) => prop_assert!(before.next_segment() < media.next().msn.saturating_sub(5)),
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(lines in prop::collection::vec(any_line(), 0..30)) {
        let text = format!("#EXTM3U\n#EXT-X-TARGETDURATION:2\n{}", lines.join("\n"));
        hls::fuzz::playlist(text.as_bytes());
    }
}

fn any_line() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "INF:",
        "-X-MEDIA-SEQUENCE:",
        "-X-SKIP:SKIPPED-SEGMENTS=",
        "-X-PART:URI=\"x\",DURATION=",
        "-X-GAP",
        "-X-PROGRAM-DATE-TIME:",
        "-X-DISCONTINUITY",
        "-X-MAP:URI=",
        "-X-PART-INF:PART-TARGET=",
        "-X-ENDLIST",
        "-X-RENDITION-REPORT:URI=\"x\",LAST-MSN=",
        "-X-SERVER-CONTROL:CAN-SKIP-UNTIL=",
        "-X-STREAM-INF:BANDWIDTH=",
        "-X-MEDIA:TYPE=AUDIO,GROUP-ID=",
        "-X-DISCONTINUITY-SEQUENCE:",
    ]);
    let value = prop_oneof![
        Just("18446744073709551615"),
        Just("1e308"),
        Just("nan"),
        Just("-1"),
        Just("2"),
        Just("\"x\""),
        Just(""),
        Just("2026-11-29T14:00:59.9999Z"),
        Just("2026-13-45T14:00:00Z"),
    ];
    prop_oneof![
        (tag, value).prop_map(|(tag, value)| format!("#EXT{tag}{value}")),
        Just("x.m4s".to_owned()),
        ".*"
    ]
}
