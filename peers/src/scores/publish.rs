//! How a message gets into each product.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::pavilion;
use super::product::Peer;

/// A way in, kept open.
pub(crate) enum Publisher {
    /// A line for everybody.
    Lines(TcpStream),
    /// `PUB` of NATS' own protocol.
    Nats(TcpStream),
    /// A POST of the message itself.
    Nchan(Http),
    /// A POST of JSON with the message in it.
    Centrifugo(Http),
    /// Into the relay that the socket edge takes from.
    Pavilion(pavilion::Relay),
}

/// An HTTP client for one server.
pub(crate) struct Http {
    pool: Pool<HttpConnector, Full<Bytes>>,
    base: String,
}

impl Publisher {
    /// Opens it; `subscribers` and `publishers` are where the product listens.
    pub(crate) async fn open(
        peer: Peer,
        subscribers: SocketAddr,
        publishers: SocketAddr,
    ) -> anyhow::Result<Option<Publisher>> {
        let stream = async || -> anyhow::Result<TcpStream> {
            let stream = TcpStream::connect(publishers).await.context("its publishers' port")?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        Ok(Some(match peer {
            Peer::Bare => Publisher::Lines(stream().await?),
            Peer::Nats => {
                let mut stream = stream().await?;
                stream.write_all(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\n").await?;
                Publisher::Nats(stream)
            }
            Peer::Nchan => Publisher::Nchan(Http::new(subscribers)),
            Peer::Centrifugo => Publisher::Centrifugo(Http::new(subscribers)),
            Peer::Socketify => return Ok(None),
        }))
    }

    /// Publishes one message on the first channel.
    pub(crate) async fn publish(&mut self, payload: &str) -> anyhow::Result<()> {
        match self {
            Publisher::Lines(stream) => stream.write_all(format!("{payload}\n").as_bytes()).await?,
            Publisher::Nats(stream) => {
                let line = format!("PUB m0 {}\r\n{payload}\r\n", payload.len());
                stream.write_all(line.as_bytes()).await?;
            }
            Publisher::Nchan(http) => http.post("/pub?id=m0", "text/plain", payload.to_owned()).await?,
            Publisher::Centrifugo(http) => {
                let body = format!("{{\"channel\":\"m0\",\"data\":{payload}}}");
                http.post("/api/publish", "application/json", body).await?;
            }
            Publisher::Pavilion(relay) => relay.publish(payload).await?,
        }
        Ok(())
    }
}

impl Http {
    pub(crate) fn new(at: SocketAddr) -> Http {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Http { pool: Pool::builder(TokioExecutor::new()).build(connector), base: format!("http://{at}") }
    }

    /// Posts; anything but a success is an error.
    async fn post(&self, path: &str, kind: &str, body: String) -> anyhow::Result<()> {
        self.post_as(path, kind, None, body).await.map(drop)
    }

    /// Likewise, with a bearer's token; answers the body.
    pub(crate) async fn post_as(
        &self,
        path: &str,
        kind: &str,
        bearer: Option<&str>,
        body: String,
    ) -> anyhow::Result<Bytes> {
        let mut request = Request::post(format!("{}{path}", self.base)).header("content-type", kind);
        if let Some(bearer) = bearer {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        let answer = self.pool.request(request.body(Full::from(body))?).await.context("publishing")?;
        let status = answer.status();
        let said = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "publishing: {status} {}", String::from_utf8_lossy(&said));
        Ok(said)
    }
}
