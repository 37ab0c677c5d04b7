//! Init segments, parts and segments.

use std::sync::Arc;

use timeline::Position;
use timeline::name::{Kind, Object};

use super::hold::Held;
use super::reply::Reply;
use crate::core::Found;
use crate::limits::{ABSENT_LIFETIME, MEDIA_LIFETIME};
use crate::live::Live;
use crate::view::View;

/// An object by its name. Those at the live edge, hinted parts above all, are waited for.
pub(crate) async fn object(live: &Live, object: &Object, held: &mut Held<'_>) -> Result<Reply, Reply> {
    let unknown = || Reply::absent(format!("the programme has no track '{}'", object.track), None);
    let track = live.look(|programme, _| programme.find(&object.track)).ok_or_else(unknown)?;
    let clock = held.origin().clock();
    let msn = match object.kind {
        Kind::Init(_) => None,
        Kind::Part { msn, .. } | Kind::Segment { msn, .. } => Some(msn),
    };
    let absent = |view: &Arc<View>| {
        let past = msn.is_some_and(|msn| msn < view.end(clock.now()).next.msn);
        Reply::absent(format!("there is no {object} here"), past.then_some(ABSENT_LIFETIME))
    };
    let chunks = held
        .track(live, track, |view| {
            let found = live.look(|programme, _| {
                let on_air = programme.clock(clock.now());
                let track = &programme.tracks()[track];
                match object.kind {
                    Kind::Init(id) => track.init(id).map_or(Found::Never, |b| Found::Here(vec![b.clone()])),
                    Kind::Part { msn, letter, part } => track.part(Position { msn, part }, letter, on_air),
                    Kind::Segment { msn, letter } => track.segment(msn, letter, on_air),
                }
            });
            match found {
                Found::Here(chunks) => Some(Ok(chunks)),
                Found::Soon => None,
                Found::Never => Some(Err(absent(view))),
            }
        })
        .await?;
    let video = live.look(|programme, _| programme.announced().tracks[track].is_video());
    Ok(Reply::Media { chunks, video, lifetime: MEDIA_LIFETIME })
}
