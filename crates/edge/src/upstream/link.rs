//! The way to one upstream: from an ask to a request and from its answer to ours.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{HeaderValue, VIA};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tracing::debug;

use super::dial::Dial;
use super::lane::{Broken, Lane};
use crate::config::Upstream;
use crate::failure::Failure;
use crate::fetch::{Answer, Arriving, Ask, Fetch};
use crate::limits::{UPSTREAM_REQUESTS_MAX, UPSTREAM_STREAMS_MAX};

/// One upstream and the connections that lead there.
#[derive(Clone)]
pub(super) struct Link(Arc<Inner>);

struct Inner {
    scheme: Scheme,
    authority: Authority,
    /// Filled one after the other.
    lanes: Vec<Lane>,
    /// For what is asked when they are full, which is its health alone.
    last: Lane,
}

impl Link {
    /// To that upstream. Makes no connection yet.
    pub(super) fn new(dial: &Dial, upstream: &Upstream) -> Link {
        let (scheme, tls) = if upstream.tls() { (Scheme::HTTPS, true) } else { (Scheme::HTTP, false) };
        let places = if tls { UPSTREAM_STREAMS_MAX } else { UPSTREAM_REQUESTS_MAX };
        let lane = || Lane::new(dial.clone(), places, tls);
        let lanes = std::iter::repeat_with(lane).take(UPSTREAM_REQUESTS_MAX.div_ceil(places)).collect();
        Link(Arc::new(Inner { scheme, authority: upstream.authority().clone(), lanes, last: lane() }))
    }
}

impl Fetch for Link {
    /// Not bounded in time: whoever asks several upstreams knows how long each may take.
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let inner = self.0.clone();
        Box::pin(async move { inner.ask(ask).await })
    }
}

/// A target that may not stand in a URI.
pub(super) const UNASKABLE: Failure = Failure::Unfit("cannot be asked for");

impl Inner {
    async fn ask(&self, mut ask: Ask) -> Result<Answer, Failure> {
        let body = ask.body.take();
        let repeatable = body.is_none() && ask.method.is_safe();
        let mut lanes = self.lanes.iter();
        let found = lanes.find_map(|lane| Some((lane, Some(lane.place()?))));
        let (lane, place) = found.unwrap_or((&self.last, None));
        let mut answer = lane.send(self.request(&ask, body)?).await;
        // The upstream closed the connection while the request was on its way to it, as it may: that says nothing of
        // the upstream. (A request of which nothing was sent is sent again by the client already.)
        if repeatable && answer.as_ref().is_err_and(|why| *why == Broken::Closed) {
            answer = lane.send_again(self.request(&ask, None)?).await;
        }
        match answer {
            Ok(answer) => Ok(arriving(answer, place)),
            Err(why) => {
                debug!(authority = %self.authority, target = ask.target, ?why, "upstream gives no answer");
                Err(why.into())
            }
        }
    }

    fn request(&self, ask: &Ask, body: Option<Arriving>) -> Result<Request<Arriving>, Failure> {
        let target = PathAndQuery::try_from(&*ask.target).map_err(|_| UNASKABLE)?;
        let (scheme, authority) = (self.scheme.clone(), self.authority.clone());
        let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query(target).build();
        let body = body.unwrap_or_else(|| Empty::new().map_err(|never| match never {}).boxed_unsync());
        let mut request = Request::new(body);
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = uri.map_err(|_| UNASKABLE)?;
        request.headers_mut().clone_from(&ask.headers);
        request.headers_mut().append(VIA, HeaderValue::from_static("1.1 pavilion"));
        Ok(request)
    }
}

/// The answer, whose body keeps `place` until it is gone.
fn arriving(answer: Response<Incoming>, place: Option<OwnedSemaphorePermit>) -> Answer {
    let cut = move |_| {
        let _kept = &place;
        Failure::Cut
    };
    answer.map(|body| body.map_err(cut).boxed_unsync())
}
