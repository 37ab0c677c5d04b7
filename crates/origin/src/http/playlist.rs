//! Playlists.

use hls::flavour::FLAVOURS;
use hls::{Directives, Verdict};
use http::header::HeaderMap;
use listen::coding::Coding;
use std::time::Duration;
use timeline::name::Token;
use timeline::protection::Protection;

use super::hold::Held;
use super::reply::Reply;
use crate::limits::{BLOCKING_LIFETIME_TARGETS, MEASURED_MIN_S, MULTIVARIANT_LIFETIME};
use crate::live::Live;

/// A track's playlist, held until it is what the query asks for.
pub(crate) async fn media(
    live: &Live,
    flavour: usize,
    track: &Token,
    query: &str,
    headers: &HeaderMap,
    held: &mut Held<'_>,
) -> Result<Reply, Reply> {
    let directives = Directives::parse(query).map_err(|e| Reply::bad_request(e.to_string()))?;
    let Some(i) = live.look(|programme, _| programme.find(track)) else {
        return Err(Reply::absent(format!("the programme has no track '{track}'"), None));
    };
    let clock = held.origin().clock();
    let view = held
        .track(live, i, |view| {
            match directives.judge(&view.media().grid, view.end(clock.now())) {
                Verdict::BadRequest(error) => Some(Err(Reply::bad_request(error.to_string()))),
                // An empty playlist is no playlist.
                Verdict::Now if view.begun() || view.media().ended => Some(Ok(view.clone())),
                Verdict::Now | Verdict::Wait(_) => None,
            }
        })
        .await?;
    let lifetime = match directives.msn {
        Some(_) => Duration::from_secs(BLOCKING_LIFETIME_TARGETS * view.media().grid.target_duration()),
        None => view.lifetime(clock.now()),
    };
    let coding = Coding::accepted(headers);
    Ok(Reply::Playlist { text: view.text(directives.skip, flavour, coding).clone(), coding, lifetime })
}

/// The multivariant playlist: as announced, with the averages that were measured once there is enough.
pub(crate) fn multivariant(live: &Live, flavour: usize, headers: &HeaderMap) -> Result<Reply, Reply> {
    let (programme, keys) = live.look(|programme, _| {
        let mut announced = programme.announced().clone();
        for (said, track) in announced.tracks.iter_mut().zip(programme.tracks()) {
            let seconds = track.measured().seconds();
            if seconds >= MEASURED_MIN_S {
                said.average_bps = (track.bytes() as f64 * 8.0 / seconds).round() as u64;
            }
        }
        (announced, keys(programme.tracks().iter().filter_map(|track| track.media().key())))
    });
    let flavour = &FLAVOURS[flavour.min(FLAVOURS.len() - 1)];
    let coding = Coding::accepted(headers);
    let text = coding.encode(&hls::multivariant::render(&programme, &keys, flavour).into());
    Ok(Reply::Playlist { text, coding, lifetime: MULTIVARIANT_LIFETIME })
}

/// Each key once: those on air, then those that are announced. PlayReady's check value of the latter is not known.
fn keys<'a>(on_air: impl Iterator<Item = &'a Protection> + Clone) -> Vec<Protection> {
    let announced = on_air.clone().filter_map(|now| {
        let next = now.next?;
        Some(Protection { scheme: now.scheme, kid: next.kid, checksum: None, next: None })
    });
    let mut all: Vec<Protection> = Vec::new();
    for key in on_air.copied().chain(announced) {
        if !all.iter().any(|known| known.same_key(&key)) {
            all.push(key);
        }
    }
    all
}
