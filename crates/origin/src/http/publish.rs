//! What pipelines PUT.

use bytes::Bytes;
use http::HeaderMap;
use serde::Deserialize;
use timeline::Position;
use timeline::name::{Kind, ProgrammePath};
use timeline::object::{META_HEADER, Meta};
use timeline::programme::Programme;

use super::body::read;
use super::reply::Reply;
use super::target::Resource;
use crate::core::limits::{INIT_BYTES_MAX, PART_BYTES_MAX, SEGMENT_BYTES_MAX};
use crate::core::{Accepted, Refusal};
use crate::limits::PROGRAMME_BYTES_MAX;
use crate::meters;
use crate::origin::Origin;

/// The match's end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    last_msn: u64,
}

impl Origin {
    pub(crate) async fn publish<B>(
        &self,
        path: ProgrammePath,
        resource: Resource,
        headers: &HeaderMap,
        body: B,
    ) -> Result<Reply, Reply>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        if matches!(resource, Resource::Status | Resource::Multivariant(_) | Resource::Playlist(..)) {
            return Err(Reply::Method("GET, HEAD"));
        }
        let outcome = self.take(&path, resource, headers, body).await;
        meters::put(&outcome);
        if let Err(refusal) = &outcome {
            // Whoever sends nonsense sends a lot of it; the metric counts, the pipeline's log explains.
            tracing::debug!(%path, %refusal, "refused");
        }
        Ok(outcome.map(|_| Reply::Done)?)
    }

    async fn take<B>(
        &self,
        path: &ProgrammePath,
        resource: Resource,
        headers: &HeaderMap,
        body: B,
    ) -> Result<Accepted, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        if resource == Resource::Programme {
            let said: Programme =
                json(&read(body, PROGRAMME_BYTES_MAX, "a programme").await?, "a programme")?;
            return self.announce(path, said);
        }
        let live = self.find(path).ok_or_else(|| Refusal::UnknownProgramme(path.to_string()))?;
        let Resource::Object(object) = resource else {
            let End { last_msn } = json(&read(body, PROGRAMME_BYTES_MAX, "an end").await?, "an end")?;
            live.change(|programme, now| programme.put_end(last_msn, now))?;
            return Ok(Accepted::New);
        };
        let track = &object.track;
        let accepted = match object.kind {
            Kind::Init(id) => {
                let bytes = read(body, INIT_BYTES_MAX, "an init segment").await?;
                live.change(|programme, now| programme.put_init(track, id, bytes, now))
            }
            Kind::Part { msn, letter, part } => {
                let meta = meta(headers)?;
                let bytes = read(body, PART_BYTES_MAX, "a part").await?;
                let at = Position { msn, part };
                live.change(|programme, now| programme.put_part(track, at, letter, meta, bytes, now))
            }
            Kind::Segment { msn, letter } => {
                let meta = meta(headers)?;
                let bytes = read(body, SEGMENT_BYTES_MAX, "a segment").await?;
                live.change(|programme, now| programme.put_segment(track, msn, letter, meta, bytes, now))
            }
        };
        meters::window_bytes(live.look(|programme, _| programme.bytes()));
        accepted
    }
}

fn meta(headers: &HeaderMap) -> Result<Meta, Refusal> {
    let header = headers.get(META_HEADER);
    let header = header.ok_or_else(|| Refusal::Malformed(format!("the header {META_HEADER} is missing")))?;
    json(header.as_bytes(), META_HEADER)
}

fn json<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &str) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|e| Refusal::Malformed(format!("this is not {what}: {e}")))
}
