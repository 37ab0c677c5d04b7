//! Compressed forms of texts that many ask for: playlists, cards.

use std::io::Write;

use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// Lines of playlists and fields of cards repeat, so the fastest level that looks for repeats takes off most already:
/// nine tenths of a playlist.
const GZIP_LEVEL: u32 = 1;
/// The lowest quality at which Brotli is well ahead of that gzip; made once for each version of a text.
const BROTLI_QUALITY: i32 = 4;

/// A form of a text (RFC 9110, 8.4.1; RFC 7932).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Plain,
    /// gzip.
    Gzip,
    /// Brotli.
    Brotli,
}

impl Coding {
    /// All of them.
    pub const COUNT: usize = 3;

    /// The smallest form that an `Accept-Encoding` names and does not rule out (RFC 9110, 12.5.3).
    pub fn accepted(headers: &HeaderMap) -> Coding {
        let mut best = Coding::Plain;
        let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
        for coding in values.flat_map(|v| v.split(',')) {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            match name.trim() {
                _ if refused => {}
                name if name.eq_ignore_ascii_case("br") => best = Coding::Brotli,
                name if name.eq_ignore_ascii_case("gzip") && best == Coding::Plain => best = Coding::Gzip,
                _ => {}
            }
        }
        best
    }

    /// As `Content-Encoding` says it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Coding::Plain => None,
            Coding::Gzip => Some("gzip"),
            Coding::Brotli => Some("br"),
        }
    }

    /// A text in this form.
    pub fn encode(self, text: &Bytes) -> Bytes {
        let mut out = Vec::with_capacity(text.len() / 8);
        // Writing to memory cannot fail.
        match self {
            Coding::Plain => return text.clone(),
            Coding::Gzip => {
                let mut gzip = GzEncoder::new(out, Compression::new(GZIP_LEVEL));
                let _ = gzip.write_all(text);
                out = gzip.finish().unwrap_or_default();
            }
            Coding::Brotli => {
                let params = BrotliEncoderParams { quality: BROTLI_QUALITY, ..Default::default() };
                let _ = brotli::BrotliCompress(&mut &text[..], &mut out, &params);
            }
        }
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_smallest_form_is_for_those_who_say_so() {
        let accepted = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            Coding::accepted(&headers)
        };
        for gzip in ["gzip", "br;q=0, GZIP;q=0.5", "deflate,gzip"] {
            assert_eq!(accepted(gzip), Coding::Gzip, "{gzip}");
        }
        for brotli in ["br", "gzip, deflate, br, zstd", "BR;q=0.1,gzip"] {
            assert_eq!(accepted(brotli), Coding::Brotli, "{brotli}");
        }
        for plain in ["gzip;q=0", "gzip;q=0.000", "xgzip", "*", ""] {
            assert_eq!(accepted(plain), Coding::Plain, "{plain}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), Coding::Plain);
    }

    #[test]
    fn what_is_encoded_is_read_again() {
        let line = |n| format!("#EXT-X-PART:DURATION=0.32,URI=\"../v/{n}a.0.m4s\",INDEPENDENT=YES\n");
        let text = Bytes::from((0..1_000).map(line).collect::<String>());
        let (gzip, brotli) = (Coding::Gzip.encode(&text), Coding::Brotli.encode(&text));
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, text);
        plain.clear();
        brotli::Decompressor::new(&brotli[..], 4_096).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, text);
        assert!(brotli.len() < gzip.len() && gzip.len() < text.len() / 5, "{} {}", brotli.len(), gzip.len());
    }
}
