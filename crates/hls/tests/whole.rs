//! Whole playlists, as players see them.
#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hls::flavour::{FLAVOURS, Flavour};
use hls::{Hint, Media, Open, Part, Report, Segment, check, multivariant, read, render};
use timeline::name::{InitId, Letter, Token};
use timeline::programme::{Kind, Programme, Track};
use timeline::protection::{Checksum, Kid, Next, Protection, Scheme};
use timeline::{Grid, Position, Ticks, Utc};

const HLS: &Flavour = &FLAVOURS[0];

fn token(s: &str) -> Token {
    s.parse().unwrap()
}

fn grid() -> Grid {
    Grid::for_frame_rate("25".parse().unwrap()).unwrap()
}

fn epoch() -> Utc {
    "2026-11-29T14:00:00Z".parse().unwrap()
}

fn part(index: u32, letter: Letter, gap: bool) -> Part {
    Part { index, letter, duration: grid().part(), independent: index == 0, gap }
}

/// Six parts, all there.
fn segment(msn: u64) -> Segment {
    Segment {
        msn,
        start: grid().segment_start(msn),
        duration: grid().segment(),
        source: Some(Letter::A),
        init: InitId(0xaa),
        key: None,
        discontinuity: false,
        parts: (0..6).map(|i| part(i, Letter::A, false)).collect(),
    }
}

/// Twelve segments; 1,000 missing altogether, B's from 1,010 on with another init segment, one part of 1,011
/// lost and its whole segment taken from A.
fn media() -> Media {
    let mut media = Media::new(grid(), epoch(), token("v720"));
    media.segments = (1_000..1_012).map(segment).collect();
    media.discontinuity_sequence = 3;
    let gap = &mut media.segments[0];
    (gap.source, gap.parts) = (None, vec![]);
    for segment in media.segments.range_mut(10..) {
        segment.source = Some(Letter::B);
        segment.init = InitId(0xbb);
        segment.parts = (0..6).map(|i| part(i, Letter::B, false)).collect();
    }
    media.segments[10].discontinuity = true;
    media.segments[11].parts[3].gap = true;
    media.open = Some(Open {
        msn: 1_012,
        start: grid().segment_start(1_012),
        init: InitId(0xbb),
        key: None,
        discontinuity: false,
        parts: vec![part(0, Letter::B, false), part(1, Letter::B, false)],
    });
    media.hint = Some(Hint { at: Position { msn: 1_012, part: 2 }, letter: Letter::B });
    media.reports = vec![
        Report { track: token("v360"), last: Position { msn: 1_012, part: 1 } },
        Report { track: token("en"), last: Position { msn: 1_012, part: 0 } },
    ];
    media
}

const HEADER: &str = "\
#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:2
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,HOLD-BACK=6,PART-HOLD-BACK=0.96
#EXT-X-PART-INF:PART-TARGET=0.32
#EXT-X-MEDIA-SEQUENCE:1000
#EXT-X-DISCONTINUITY-SEQUENCE:3
";

/// What a delta of [`media`] leaves out.
const OLD: &str = "\
#EXT-X-MAP:URI=\"../v720/init-000000aa.mp4\"
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:00.000Z
#EXT-X-GAP
#EXTINF:1.92,
../v720/1000a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:01.920Z
#EXTINF:1.92,
../v720/1001a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:03.840Z
#EXTINF:1.92,
../v720/1002a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:05.760Z
#EXTINF:1.92,
../v720/1003a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:07.680Z
#EXTINF:1.92,
../v720/1004a.m4s
";

const RECENT: &str = "\
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:09.600Z
#EXTINF:1.92,
../v720/1005a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:11.520Z
#EXTINF:1.92,
../v720/1006a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:13.440Z
#EXTINF:1.92,
../v720/1007a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:15.360Z
#EXTINF:1.92,
../v720/1008a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:17.280Z
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.0.m4s\",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.1.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.2.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.3.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.4.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1009a.5.m4s\"
#EXTINF:1.92,
../v720/1009a.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI=\"../v720/init-000000bb.mp4\"
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:19.200Z
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.0.m4s\",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.1.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.2.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.3.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.4.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1010b.5.m4s\"
#EXTINF:1.92,
../v720/1010b.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:21.120Z
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.0.m4s\",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.1.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.2.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.3.m4s\",GAP=YES
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.4.m4s\"
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1011b.5.m4s\"
#EXTINF:1.92,
../v720/1011b.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:23.040Z
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1012b.0.m4s\",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI=\"../v720/1012b.1.m4s\"
#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"../v720/1012b.2.m4s\"
#EXT-X-RENDITION-REPORT:URI=\"v360.m3u8\",LAST-MSN=1012,LAST-PART=1
#EXT-X-RENDITION-REPORT:URI=\"en.m3u8\",LAST-MSN=1012,LAST-PART=0
";

#[test]
fn a_match_on_air() {
    let text = render(&media(), false, HLS);
    assert_eq!(text, format!("{HEADER}{OLD}{RECENT}"));
    assert_eq!(check::one(&read::playlist(&text).unwrap()), vec![]);
}

#[test]
fn its_delta_leaves_out_what_is_old() {
    let map = "#EXT-X-MAP:URI=\"../v720/init-000000aa.mp4\"\n";
    let text = render(&media(), true, HLS);
    assert_eq!(text, format!("{HEADER}#EXT-X-SKIP:SKIPPED-SEGMENTS=5\n{map}{RECENT}"));
}

#[test]
fn a_match_that_has_ended() {
    let mut media = media();
    media.segments.drain(..11);
    (media.open, media.ended, media.reports) = (None, true, vec![]);
    // An ended playlist is never a delta (rfc8216bis 6.2.5.1), and hints nothing (4.4.5.3).
    let text = render(&media, true, HLS);
    assert!(text.ends_with("#EXTINF:1.92,\n../v720/1011b.m4s\n#EXT-X-ENDLIST\n"), "{text}");
    assert!(!text.contains("PRELOAD-HINT"));
    assert_eq!(text.matches("#EXT-X-MAP").count(), 1);
}

#[test]
fn before_the_first_part() {
    let mut media = Media::new(grid(), epoch(), token("en"));
    media.hint = Some(Hint { at: Position { msn: 7, part: 0 }, letter: Letter::A });
    assert!(render(&media, true, HLS).ends_with(
        "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n\
         #EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"../en/7a.0.m4s\"\n"
    ));
    assert_eq!((media.last(), media.end(), media.next()), (None, None, Position { msn: 7, part: 0 }));
}

#[test]
fn ends_and_evictions() {
    let mut media = media();
    assert_eq!(media.last(), Some(Position { msn: 1_012, part: 1 }));
    assert_eq!(media.next(), Position { msn: 1_012, part: 2 });
    assert_eq!(media.end(), Some(grid().segment_start(1_012) + Ticks(2 * 28_800)));
    assert_eq!((media.parts_from(), media.skippable()), (1_009, 5));
    media.open = None;
    assert_eq!(media.last(), Some(Position { msn: 1_011, part: 5 }));
    for _ in 0..10 {
        media.pop_front();
    }
    assert_eq!(media.discontinuity_sequence, 3, "the tag is still listed");
    media.pop_front();
    assert_eq!((media.discontinuity_sequence, media.first_msn()), (4, 1_011));
}

fn audio(name: &str, language: &str, label: &str) -> Track {
    let kind = Kind::Audio { language: language.to_owned(), label: label.to_owned(), channels: 2 };
    Track { name: token(name), codecs: "mp4a.40.2".to_owned(), peak_bps: 140_000, average_bps: 128_000, kind }
}

fn video(name: &str, height: u32, peak_bps: u64) -> Track {
    let kind = Kind::Video { width: height * 16 / 9, height };
    Track {
        name: token(name),
        codecs: "avc1.64001F".to_owned(),
        peak_bps,
        average_bps: peak_bps * 4 / 5,
        kind,
    }
}

fn programme(tracks: Vec<Track>) -> Programme {
    Programme { epoch: epoch(), grid: Grid::for_frame_rate("30000/1001".parse().unwrap()).unwrap(), tracks }
}

#[test]
fn pictures_and_languages() {
    let tracks = vec![
        video("v720", 720, 3_000_000),
        video("v360", 360, 800_000),
        audio("en", "en", "English"),
        audio("hi", "hi", "हिन्दी"),
        audio("en2", "en", "Eng\"lish\n"),
    ];
    let text = multivariant::render(&programme(tracks), &[], HLS);
    assert_eq!(
        text,
        "\
#EXTM3U
#EXT-X-VERSION:9
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,AUTOSELECT=YES,CHANNELS=\"2\",URI=\"en.m3u8\"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"हिन्दी\",LANGUAGE=\"hi\",DEFAULT=NO,AUTOSELECT=YES,CHANNELS=\"2\",URI=\"hi.m3u8\"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"English (en2)\",LANGUAGE=\"en\",DEFAULT=NO,AUTOSELECT=NO,CHANNELS=\"2\",URI=\"en2.m3u8\"
#EXT-X-STREAM-INF:BANDWIDTH=3140000,AVERAGE-BANDWIDTH=2528000,CODECS=\"avc1.64001F,mp4a.40.2\",RESOLUTION=1280x720,FRAME-RATE=29.970,AUDIO=\"audio\"
v720.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=940000,AVERAGE-BANDWIDTH=768000,CODECS=\"avc1.64001F,mp4a.40.2\",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO=\"audio\"
v360.m3u8
"
    );
    assert_eq!(check::multivariant(&read::multivariant(&text).unwrap()), vec![]);
}

#[test]
fn pictures_alone_and_sound_alone() {
    let silent = multivariant::render(&programme(vec![video("v720", 720, 3_000_000)]), &[], HLS);
    assert!(
        silent.ends_with("CODECS=\"avc1.64001F\",RESOLUTION=1280x720,FRAME-RATE=29.970\nv720.m3u8\n"),
        "{silent}"
    );
    let radio = multivariant::render(
        &programme(vec![audio("en", "en", "English"), audio("ta", "ta", "தமிழ்")]),
        &[],
        HLS,
    );
    assert!(
        radio.ends_with(
            "#EXT-X-STREAM-INF:BANDWIDTH=140000,AVERAGE-BANDWIDTH=128000,CODECS=\"mp4a.40.2\",AUDIO=\"audio\"\nen.m3u8\n"
        ),
        "{radio}"
    );
    for text in [silent, radio] {
        assert_eq!(check::multivariant(&read::multivariant(&text).unwrap()), vec![]);
    }
}

/// The checker finds what it is there for: each change to a good playlist breaks exactly the rule it should.
#[test]
fn the_checker_finds_each_fault() {
    let good = render(&media(), false, HLS);
    for (from, to, section) in [
        ("HOLD-BACK=6", "HOLD-BACK=5.9", "4.4.3.8"),
        ("PART-HOLD-BACK=0.96", "PART-HOLD-BACK=0.9", "4.4.3.8"),
        ("CAN-SKIP-UNTIL=12", "CAN-SKIP-UNTIL=11", "4.4.3.8"),
        ("CAN-BLOCK-RELOAD=YES,", "", "B.1"),
        ("#EXT-X-PART-INF:PART-TARGET=0.32\n", "", "4.4.3.7"),
        ("#EXT-X-VERSION:9", "#EXT-X-VERSION:7", "8"),
        ("#EXTINF:1.92,\n../v720/1004a", "#EXTINF:2.51,\n../v720/1004a", "4.4.3.1"),
        ("PART:DURATION=0.32,URI=\"../v720/1012b.1", "PART:DURATION=0.33,URI=\"../v720/1012b.1", "4.4.4.9"),
        ("PART:DURATION=0.32,URI=\"../v720/1010b.1", "PART:DURATION=0.27,URI=\"../v720/1010b.1", "4.4.4.9"),
        ("#EXTINF:1.92,\n../v720/1010b", "#EXTINF:1.9,\n../v720/1010b", "3.2"),
        ("#EXT-X-MAP:URI=\"../v720/init-000000aa.mp4\"\n", "", "4.4.4.5"),
        ("#EXT-X-DISCONTINUITY\n", "", "4.4.4.3"),
        ("14:32:07.680Z", "14:32:07.600Z", "4.4.4.6"),
        ("#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:07.680Z\n", "", "B.1"),
        ("PART,URI=\"../v720/1012b.2", "PART,URI=\"../v720/1012b.1", "4.4.5.3"),
        ("#EXT-X-RENDITION", "#EXT-X-ENDLIST\n#EXT-X-RENDITION", "4.4.5.3"),
        (
            "#EXTINF:1.92,\n../v720/1004a",
            "#EXT-X-PART:URI=\"x\",DURATION=0.32\n#EXTINF:1.92,\n../v720/1004a",
            "6.2.2",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let found = check::one(&read::playlist(&good.replacen(from, to, 1)).unwrap());
        assert!(found.iter().any(|v| v.section == section), "{to}: {found:?}");
    }
}

#[test]
fn the_checker_finds_what_a_reload_must_not_change() {
    let good = render(&media(), false, HLS);
    let earlier = read::playlist(&good).unwrap();
    assert_eq!(check::two(&earlier, &earlier), vec![]);
    for (from, to, section) in [
        ("TARGETDURATION:2", "TARGETDURATION:3", "6.2.1"),
        ("PART-TARGET=0.32", "PART-TARGET=0.33", "6.2.1"),
        ("MEDIA-SEQUENCE:1000", "MEDIA-SEQUENCE:999", "6.2.2"),
        ("DISCONTINUITY-SEQUENCE:3", "DISCONTINUITY-SEQUENCE:4", "4.4.3.3"),
        ("DISCONTINUITY-SEQUENCE:3", "DISCONTINUITY-SEQUENCE:2", "4.4.3.3"),
        ("1004a.m4s", "1004b.m4s", "6.2.1"),
        ("14:32:07.680Z", "14:32:07.681Z", "6.2.1"),
        ("#EXT-X-GAP\n", "", "6.2.1"),
        ("#EXT-X-PART:DURATION=0.32,URI=\"../v720/1012b.1.m4s\"\n", "", "6.2.1"),
        ("1012b.1.m4s\"\n", "1012b.1.m4s\",GAP=YES\n", "6.2.1"),
        ("1010b.1.m4s\"\n", "1010b.1.m4s\",GAP=YES\n", "6.2.1"),
    ] {
        assert!(good.contains(from), "{from}");
        let found = check::two(&earlier, &read::playlist(&good.replacen(from, to, 1)).unwrap());
        assert!(found.iter().any(|v| v.section == section), "{to}: {found:?}");
    }
}

#[test]
fn the_reader_refuses_tags_out_of_order() {
    let good = render(&media(), true, HLS);
    let skip = "#EXT-X-SKIP:SKIPPED-SEGMENTS=5\n";
    let moved = |tag: &str| good.replacen(tag, "", 1).replacen(skip, &format!("{skip}{tag}"), 1);
    for bad in [
        moved("#EXT-X-MEDIA-SEQUENCE:1000\n"),
        moved("#EXT-X-DISCONTINUITY-SEQUENCE:3\n"),
        good.replacen(skip, &skip.repeat(2), 1),
        good.replacen("#EXTINF:1.92,\n", "", 1),
        good.replacen("#EXTM3U\n", "", 1),
        good.replacen("#EXT-X-TARGETDURATION:2\n", "", 1),
        good.replacen("1012b.0.m4s\"", "1012b.0.m4s", 1),
        good.replacen(
            "URI=\"../v720/1012b.1.m4s\"\n",
            "URI=\"../v720/1012b.1.m4s\"\n#EXT-X-DISCONTINUITY\n",
            1,
        ),
    ] {
        assert!(read::playlist(&bad).is_err(), "{bad}");
    }
}

/// The first ten segments in the clear, two of one key, and one of the next, which was announced.
fn encrypted(scheme: Scheme) -> Media {
    let mut media = media();
    let checksum = (scheme == Scheme::Cenc).then_some(Checksum([9; 8]));
    let key = |n| Protection { scheme, kid: Kid([n; 16]), checksum, next: None };
    let next = Some(Next { kid: Kid([0x22; 16]), msn: 1_012 });
    media.segments[10].key = Some(key(0x11));
    media.segments[11].key = Some(Protection { next, ..key(0x11) });
    media.open.as_mut().unwrap().key = Some(key(0x22));
    media
}

#[test]
fn keys_stand_where_they_change() {
    let media = encrypted(Scheme::Cbcs);
    let text = render(&media, false, &FLAVOURS[1]);
    let key = |kid: &str| {
        format!(
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://{kid}\",KEYID=0x{kid},\
             KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"\n"
        )
    };
    let (one, two) = (key(&"11".repeat(16)), key(&"22".repeat(16)));
    let plain = render(&self::media(), false, HLS);
    let expected = plain
        .replace("#EXT-X-DISCONTINUITY\n#EXT-X-MAP", &format!("#EXT-X-DISCONTINUITY\n{one}#EXT-X-MAP"))
        .replace(
            "#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:23.040Z",
            &format!("{two}#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:32:23.040Z"),
        );
    assert_eq!(text, expected);
    // A delta says the key in force where it begins.
    assert!(render(&media, true, &FLAVOURS[1]).contains(&one));
    // What is announced is what the newest segment says.
    let mut before = media;
    before.open = None;
    let announced = render(&before, false, HLS);
    let range = "#EXT-X-DATERANGE:ID=\"key-22222222222222222222222222222222\",CLASS=\"pavilion.key\",\
                 START-DATE=\"2026-11-29T14:32:23.040Z\",X-KEYID=0x22222222222222222222222222222222\n";
    assert!(announced.contains(range), "{announced}");
    assert_eq!(check::one(&read::playlist(&announced).unwrap()), vec![]);
}

#[test]
fn clear_again_is_said() {
    let mut media = encrypted(Scheme::Cbcs);
    media.open.as_mut().unwrap().key = None;
    let text = render(&media, false, HLS);
    assert_eq!(text.matches("#EXT-X-KEY:METHOD=NONE\n").count(), 1);
    let list = read::playlist(&text).unwrap();
    assert!(list.open.unwrap().head.keys.is_empty() && list.segments[11].head.keys.len() == 3);
    // In a delta, too, that begins just after what was encrypted.
    let key = media.segments[10].key;
    media.segments.range_mut(..5).for_each(|s| s.key = key);
    media.segments.range_mut(5..).for_each(|s| s.key = None);
    assert_eq!(render(&media, true, HLS).matches("#EXT-X-KEY").count(), 1);
}

#[test]
fn each_flavour_has_its_lines() {
    for (scheme, method) in [(Scheme::Cbcs, "SAMPLE-AES"), (Scheme::Cenc, "SAMPLE-AES-CTR")] {
        for flavour in FLAVOURS {
            let list = read::playlist(&render(&encrypted(scheme), false, flavour)).unwrap();
            let keys = &list.open.unwrap().head.keys;
            // FairPlay has no AES-CTR.
            let lines =
                if scheme == Scheme::Cenc && flavour.name == "fairplay" { 0 } else { flavour.systems.len() };
            assert_eq!(keys.len(), lines, "{} {scheme:?}", flavour.name);
            assert!(keys.iter().all(|key| key.method == method));
        }
    }
    let keys = [encrypted(Scheme::Cbcs).key().copied().unwrap()];
    let text = multivariant::render(&programme(vec![video("v720", 720, 3_000_000)]), &keys, HLS);
    assert_eq!(text.matches("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,").count(), 3);
}
