//! A connection for which there is no place.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::limits::{HEADER_BYTES_MAX, REFUSAL_TIME_MAX};
use crate::problem::{Problem, retry_after_s};

/// Says 503 to it. Its request is read first: closing with unread bytes would reset the connection before the
/// answer is seen.
pub(crate) async fn refuse(mut socket: TcpStream, place: OwnedSemaphorePermit) {
    let refusal = async {
        let mut head = vec![0; HEADER_BYTES_MAX];
        let _ = socket.read(&mut head).await?;
        let body = Problem::Busy("connections").document();
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: {}\r\n\
             Retry-After: {}\r\nCache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n",
            body.len(),
            retry_after_s(),
        );
        socket.write_all((head + &body).as_bytes()).await?;
        socket.shutdown().await
    };
    let _ = timeout(REFUSAL_TIME_MAX, refusal).await;
    drop(place);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::net::TcpListener;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_connection_without_a_place_is_told_so() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let place = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        tokio::spawn(refuse(listener.accept().await.unwrap().0, place));
        client.write_all(b"GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 ") && head.contains("\r\nRetry-After: "), "{head}");
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["status"], 503);
    }
}
