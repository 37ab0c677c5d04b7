//! HTTP: from a request to an answer. What there is to decide, the core decides.
//!
//! * [`Origin::answer`]: the whole way of a request.
//! * `publish`: PUTs of pipelines. `playlist`, `media`: what players get. `hold`: how requests wait.

mod body;
mod hold;
mod media;
mod playlist;
mod publish;
mod reply;
mod target;

use bytes::Bytes;
use http::{Method, Request, Response};

pub use body::Body;
use hold::Held;
pub use reply::LIFETIME_HEADER;
use reply::Reply;
use target::{Resource, Target};

use crate::origin::Origin;
use crate::status;

impl Origin {
    /// Answers a request. It takes at most [`crate::limits::HOLD_MAX`] once the request's body is there.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let head = request.method() == Method::HEAD;
        let mut response = self.reply(request).await.unwrap_or_else(|reply| reply).into_response();
        if head {
            *response.body_mut() = Body::default();
        }
        response
    }

    async fn reply<B>(&self, request: Request<B>) -> Result<Reply, Reply>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (parts, body) = request.into_parts();
        let Some(Target { path, resource }) = Target::parse(parts.uri.path())? else {
            return Ok(Reply::Json(b"{\"status\":\"ok\"}".to_vec()));
        };
        match (&parts.method, &resource) {
            (&Method::PUT, _) => return self.publish(path, resource, &parts.headers, body).await,
            (&Method::OPTIONS, _) => return Ok(Reply::Preflight),
            (&Method::GET | &Method::HEAD, Resource::End) => return Err(Reply::Method("PUT")),
            (&Method::GET | &Method::HEAD, _) => {}
            _ => return Err(Reply::Method("GET, HEAD, PUT, OPTIONS")),
        }
        let mut held = Held::new(self);
        let live = held.programme(&path).await?;
        match resource {
            Resource::Multivariant(flavour) => playlist::multivariant(&live, flavour, &parts.headers),
            Resource::Playlist(flavour, track) => {
                let query = parts.uri.query().unwrap_or_default();
                playlist::media(&live, flavour, &track, query, &parts.headers, &mut held).await
            }
            Resource::Object(object) => media::object(&live, &object, &mut held).await,
            Resource::Programme => {
                let document = live.look(|p, _| serde_json::to_vec(p.announced()));
                Ok(Reply::Json(document.unwrap_or_default()))
            }
            Resource::Status => {
                let now = self.clock().now();
                let status = live.look(|programme, ready| status::of(programme, ready, now));
                Ok(Reply::Json(serde_json::to_vec_pretty(&status).unwrap_or_default()))
            }
            Resource::End => Err(Reply::Method("PUT")),
        }
    }
}
