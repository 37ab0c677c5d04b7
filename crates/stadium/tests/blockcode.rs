//! The block code through a real encoder, at the smallest size and a low rate.

mod common;

use stadium::blockcode;

#[test]
fn survives_x264_at_320x180_and_100_kbps() {
    let (width, height) = (1280, 720);
    let start = 1_796_000_000_000i64;
    let mut raw = Vec::new();
    for n in 0..50 {
        // A busy picture that starves the encoder.
        let texture = |i: usize| 60 + ((i * 7 + i / width * 13 + n * 29) % 97) as u8;
        let mut luma: Vec<u8> = (0..width * height).map(texture).collect();
        blockcode::draw(&mut luma, width, height, width, start + 40 * n as i64);
        raw.extend(luma);
    }
    let encode = "-v error -f rawvideo -pix_fmt gray -s 1280x720 -r 25 -i pipe:0 -vf scale=320:180,format=yuv420p \
        -c:v libx264 -preset ultrafast -tune zerolatency -b:v 100k -maxrate 100k -bufsize 50k -f mpegts pipe:1";
    let encoded = common::filter("ffmpeg", &encode.split_whitespace().collect::<Vec<_>>(), &raw);
    // 2 s; what the encoder overshoots shows that it was starved.
    assert!((10_000..100_000).contains(&encoded.len()), "{}", encoded.len());
    let decode = "-v error -i pipe:0 -pix_fmt gray -f rawvideo pipe:1";
    let decoded = common::filter("ffmpeg", &decode.split_whitespace().collect::<Vec<_>>(), &encoded);
    let read: Vec<_> =
        decoded.chunks_exact(320 * 180).map(|luma| blockcode::read(luma, 320, 180, 320)).collect();
    let expected: Vec<_> = (0..50).map(|n| Some((start + 40 * n) as u32)).collect();
    assert_eq!(read, expected);
}
