//! One edge behind another, in one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use http::{Request, Version};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::handle::Edge;
use crate::limits::HOLD_MAX;

/// An edge as the upstream of others, which counts what it is asked.
#[derive(Clone)]
pub struct Tier {
    edge: Arc<Edge>,
    asked: Arc<AtomicU64>,
}

impl Tier {
    /// That edge.
    pub fn new(edge: Arc<Edge>) -> Tier {
        Tier { edge, asked: Arc::default() }
    }

    /// How many requests there were so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Fetch for Tier {
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let edge = self.edge.clone();
        Box::pin(async move {
            let unfit = |_| Failure::Unfit("cannot be asked for");
            let mut request =
                Request::builder().method(ask.method).uri(ask.target).body(ask.body).map_err(unfit)?;
            *request.headers_mut() = ask.headers;
            let answer = timeout(HOLD_MAX, edge.answer(request)).await.map_err(|_| Failure::Late)?;
            let mut answer = answer.map(|body| body.boxed_unsync());
            // In a process the end of a body is told from a cut one, as in HTTP/2.
            *answer.version_mut() = Version::HTTP_2;
            Ok(answer)
        })
    }
}
