//! Bodies: ours in chunks that are shared with the window, theirs read up to a limit.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;

use crate::core::Refusal;
use crate::limits::BODY_WAIT_MAX;

/// A response's body.
#[derive(Debug, Default)]
pub struct Body {
    chunks: VecDeque<Bytes>,
}

impl Body {
    pub(crate) fn len(&self) -> u64 {
        self.chunks.iter().map(|c| c.len() as u64).sum()
    }
}

impl From<Vec<Bytes>> for Body {
    fn from(mut chunks: Vec<Bytes>) -> Body {
        chunks.retain(|c| !c.is_empty());
        Body { chunks: chunks.into() }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        vec![bytes].into()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.chunks.pop_front().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len())
    }
}

/// All of a request's body, in an allocation of its own size: it will stay for the window's length.
pub(crate) async fn read<B>(body: B, max: usize, what: &'static str) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let slow = |_| Refusal::Slow(BODY_WAIT_MAX.as_secs());
    tokio::time::timeout(BODY_WAIT_MAX, collect(body, max, what)).await.map_err(slow)?
}

async fn collect<B>(mut body: B, max: usize, what: &'static str) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let said = body.size_hint();
    if said.lower() > max as u64 {
        return Err(Refusal::TooLarge { what, max });
    }
    let mut all = BytesMut::with_capacity(said.exact().and_then(|n| usize::try_from(n).ok()).unwrap_or(0));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| Refusal::Malformed(format!("its body broke off: {e}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if all.len() + data.len() > max {
            return Err(Refusal::TooLarge { what, max });
        }
        all.extend_from_slice(&data);
    }
    Ok(if all.capacity() > all.len() { Bytes::copy_from_slice(&all) } else { all.freeze() })
}
