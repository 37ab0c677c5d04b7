//! Whose request is read next, when more wait than can be answered.
//!
//! A request that is not read costs nothing: the kernel keeps it. So a connection between two requests is read when it is
//! its turn. Turns are given in rounds of the runtime: as many as are answered within milliseconds, to those who came last,
//! since nobody has waited less. Who has waited for too long is read only to be told so, a few in each round, or else the
//! telling would take the time of those who can be let in. With fewer requests than that, each is read at once.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Requests that are read in a round: three to six milliseconds of work for a core, so that nobody who has a turn waits
/// for long, and enough that a round's own work does not count.
const ROUND: usize = 32;
/// And of those who have waited for too long: a refusal costs a fifth of an answer, so that they take a twentieth of the time.
const TOLD: usize = 8;
/// Who has waited for so long is told: those who are let in shall be answered within a tenth of a second.
const PATIENCE: Duration = Duration::from_millis(50);

/// Entries that wait: of 32 bytes. Only those of connections that have closed while they waited go so far beyond any
/// listener's bound of connections, and then they are taken out.
const WAITING_MAX: usize = 1 << 17;

/// The turns of one listener.
#[derive(Default)]
pub struct Turns {
    queue: Mutex<Queue>,
    /// A round has begun.
    begun: Notify,
}

struct Queue {
    /// Turns of this round that may still be taken.
    left: usize,
    /// The longest first; at most [`WAITING_MAX`], those who have left among them.
    waiting: VecDeque<(Instant, Arc<Line>)>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { left: ROUND, waiting: VecDeque::new() }
    }
}

/// A connection, as far as turns go.
pub struct Line {
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Between two requests.
    Idle,
    /// A request waits to be read.
    Waiting(Waker),
    /// It is read now. `late`: only to be told that it has waited for too long.
    Turn { late: bool },
    /// So many requests are under way.
    Busy { requests: usize, late: bool },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// A connection whose requests are read in turn, and what its service tells of them.
    pub fn take(self: &Arc<Turns>, stream: TcpStream) -> (InTurn, Arc<Line>) {
        let line = Arc::new(Line { state: Mutex::new(State::Idle) });
        (InTurn { stream, turns: self.clone(), line: line.clone() }, line)
    }

    /// How long somebody has waited by now.
    pub fn waited(&self) -> Duration {
        lock(&self.queue).waiting.front().map_or(Duration::ZERO, |(since, _)| since.elapsed())
    }

    /// Gives turns, for ever.
    pub async fn give(&self) {
        loop {
            self.begun.notified().await;
            while self.round(Instant::now()) {
                others_first().await;
            }
        }
    }

    /// A turn at once, if there is one.
    fn enter(&self, line: &Arc<Line>, waker: &Waker, now: Instant) -> bool {
        let mut queue = lock(&self.queue);
        if queue.left == ROUND {
            self.begun.notify_one();
        }
        // Those who wait came before, but a round is short, and nobody has waited less.
        if queue.left > 0 {
            queue.left -= 1;
            *lock(&line.state) = State::Turn { late: false };
            return true;
        }
        if queue.waiting.len() >= WAITING_MAX {
            queue.waiting.retain(|(_, line)| matches!(*lock(&line.state), State::Waiting(_)));
        }
        *lock(&line.state) = State::Waiting(waker.clone());
        queue.waiting.push_back((now, line.clone()));
        false
    }

    /// Another round. False: nobody has taken a turn in the last one, and nobody waits.
    fn round(&self, now: Instant) -> bool {
        let mut queue = lock(&self.queue);
        let quiet = queue.left == ROUND && queue.waiting.is_empty();
        queue.left = ROUND;
        let mut wakers = Vec::new();
        while wakers.len() < TOLD
            && queue.waiting.front().is_some_and(|(since, _)| now - *since > PATIENCE)
            && let Some((_, line)) = queue.waiting.pop_front()
        {
            wakers.extend(line.turn(true));
        }
        while queue.left > 0 {
            let Some((_, line)) = queue.waiting.pop_back() else { break };
            if let Some(waker) = line.turn(false) {
                queue.left -= 1;
                wakers.push(waker);
            }
        }
        drop(queue);
        wakers.into_iter().for_each(Waker::wake);
        !quiet
    }
}

/// Whatever is ready runs before the next round. (After tokio's own `yield_now` it would be the next as soon as sockets are
/// looked at, however many are ready.)
fn others_first() -> impl Future<Output = ()> {
    let mut asked = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

impl Line {
    /// It is its turn. None: it does not wait any more.
    fn turn(&self, late: bool) -> Option<Waker> {
        let mut state = lock(&self.state);
        if !matches!(*state, State::Waiting(_)) {
            return None;
        }
        match std::mem::replace(&mut *state, State::Turn { late }) {
            State::Waiting(waker) => Some(waker),
            _ => None,
        }
    }

    /// A request begins; it ends with what is given. True: it has waited for too long, and is to be told so.
    pub fn begin(self: &Arc<Line>) -> (UnderWay, bool) {
        let mut state = lock(&self.state);
        let (requests, late) = match *state {
            State::Busy { requests, late } => (requests + 1, late),
            State::Turn { late } => (1, late),
            State::Idle | State::Waiting(_) => (1, false),
        };
        *state = State::Busy { requests, late };
        drop(state);
        (UnderWay(self.clone()), late)
    }
}

/// A request that is under way.
pub struct UnderWay(Arc<Line>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        if let State::Busy { requests, .. } = &mut *state {
            *requests -= 1;
            if *requests == 0 {
                *state = State::Idle;
            }
        }
    }
}

/// A connection that is read in turn.
pub struct InTurn {
    stream: TcpStream,
    turns: Arc<Turns>,
    line: Arc<Line>,
}

impl InTurn {
    fn poll_turn(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let idle = match &mut *lock(&self.line.state) {
            State::Turn { .. } | State::Busy { .. } => return Poll::Ready(Ok(())),
            State::Waiting(waker) => {
                waker.clone_from(cx.waker());
                return Poll::Pending;
            }
            State::Idle => self.stream.poll_read_ready(cx),
        };
        ready!(idle)?;
        if self.turns.enter(&self.line, cx.waker(), Instant::now()) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }
}

impl Drop for InTurn {
    fn drop(&mut self) {
        *lock(&self.line.state) = State::Idle;
    }
}

impl AsyncRead for InTurn {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_turn(cx))?;
        let read = Pin::new(&mut self.stream).poll_read(cx, to);
        if read.is_pending() {
            let mut state = lock(&self.line.state);
            // There was nothing, or not all of it: what comes then has a turn of its own.
            if matches!(*state, State::Turn { .. }) {
                *state = State::Idle;
            }
        }
        read
    }
}

impl AsyncWrite for InTurn {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Arc<Line> {
        Arc::new(Line { state: Mutex::new(State::Idle) })
    }

    /// So many requests that come at once; which of them have a turn at once.
    fn come(turns: &Turns, count: usize, now: Instant) -> Vec<(Arc<Line>, bool)> {
        (0..count)
            .map(|_| line())
            .map(|line| (line.clone(), turns.enter(&line, Waker::noop(), now)))
            .collect()
    }

    /// What a line was told, if it has had a turn.
    fn turn(line: &Arc<Line>) -> Option<bool> {
        match *lock(&line.state) {
            State::Turn { late } => Some(late),
            _ => None,
        }
    }

    #[test]
    fn who_came_last_is_next_and_who_waited_too_long_is_told_a_few_at_a_time() {
        let (turns, begin) = (Turns::default(), Instant::now());
        let first = come(&turns, 3 * ROUND, begin);
        assert_eq!(first.iter().filter(|(_, now)| *now).count(), ROUND);
        assert!(first[..ROUND].iter().all(|(_, now)| *now), "as long as there are turns, they are for all");
        let later = begin + Duration::from_millis(3);
        assert!(turns.round(later));
        let had =
            |lines: &[(Arc<Line>, bool)]| lines.iter().filter(|(line, _)| turn(line) == Some(false)).count();
        assert_eq!((had(&first[ROUND..2 * ROUND]), had(&first[2 * ROUND..])), (0, ROUND));
        // Others come all the time, and those in the middle wait.
        let mut now = later;
        while now - begin <= PATIENCE {
            now += Duration::from_millis(3);
            let fresh = come(&turns, ROUND, now);
            assert!(turns.round(now) && had(&fresh) == ROUND);
        }
        let told = || first[ROUND..2 * ROUND].iter().filter(|(line, _)| turn(line) == Some(true)).count();
        // In the last of these rounds the first of them were told.
        for rounds in 1..=ROUND / TOLD {
            assert_eq!(told(), rounds * TOLD);
            let fresh = come(&turns, ROUND, now);
            assert!(turns.round(now) && had(&fresh) == ROUND, "and nobody who just came waits for that");
        }
        assert_eq!(turns.waited(), Duration::ZERO, "nobody waits any more");
    }

    #[test]
    fn rounds_end_when_nobody_comes_and_who_has_left_takes_no_turn() {
        let (turns, now) = (Turns::default(), Instant::now());
        let all = come(&turns, 2 * ROUND, now);
        // As when a connection is closed while it waits.
        all[ROUND..].iter().for_each(|(line, _)| *lock(&line.state) = State::Idle);
        assert!(turns.round(now));
        assert!(!turns.round(now), "nothing was taken in this one");
        // However many come and leave before a round.
        for _ in 0..2 * WAITING_MAX {
            let line = line();
            turns.enter(&line, Waker::noop(), now);
            *lock(&line.state) = State::Idle;
        }
        assert!(lock(&turns.queue).waiting.len() <= WAITING_MAX);
        assert!(turns.round(now) && !turns.round(now));
        assert!(come(&turns, ROUND, now).iter().all(|(_, at_once)| *at_once));
    }

    #[test]
    fn a_connection_is_between_two_requests_when_all_of_its_own_have_ended() {
        let line = line();
        *lock(&line.state) = State::Turn { late: true };
        let (one, late) = line.begin();
        let (two, also) = line.begin();
        assert!(late && also);
        drop(one);
        assert!(matches!(*lock(&line.state), State::Busy { requests: 1, .. }));
        drop(two);
        assert!(matches!(*lock(&line.state), State::Idle));
        let (_pipelined, late) = line.begin();
        assert!(!late);
    }

    /// Many more connections than turns, each of which asks again as soon as it was answered: nobody is forgotten, and when it is
    /// more than can be done, those who have waited are told. As in the binary, whose workers are not the thread that serves.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn everybody_is_answered() {
        use std::convert::Infallible;
        use std::net::SocketAddr;

        use http_body_util::Empty;
        use hyper::service::service_fn;
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        const CLIENTS: usize = 10 * ROUND;
        /// What an answer takes: with all of them waiting, a third of a second of work.
        const WORK: Duration = Duration::from_millis(1);
        /// Each asks at least so often, and then until somebody was told.
        const ASKS: usize = 10;
        let told = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap();
        let limits = crate::http::Limits {
            connections_max: CLIENTS,
            streams_max: 1,
            header_time_max: Duration::from_secs(60),
            header_bytes_max: 16 << 10,
            drain_max: Duration::from_secs(1),
        };
        let shutdown = tokio_util::sync::CancellationToken::new();
        let service = |_: SocketAddr, line: Arc<Line>| {
            service_fn(move |_| {
                let (under_way, late) = line.begin();
                async move {
                    let status = if late { 503 } else { 200 };
                    let began = Instant::now();
                    while !late && began.elapsed() < WORK {
                        std::hint::spin_loop();
                    }
                    let mut response = http::Response::new(Empty::<bytes::Bytes>::new());
                    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                    drop(under_way);
                    Ok::<_, Infallible>(response)
                }
            })
        };
        let serving = crate::http::serve_in_turn(listener, limits, Arc::default(), shutdown.clone(), service);
        let asking = async {
            let mut clients = tokio::task::JoinSet::new();
            for _ in 0..CLIENTS {
                let told = told.clone();
                clients.spawn(async move {
                    let mut stream = TcpStream::connect(target).await.unwrap();
                    for n in 0.. {
                        if n >= ASKS && told.load(std::sync::atomic::Ordering::Relaxed) {
                            break;
                        }
                        // In two pieces, so that a turn may find half a head.
                        stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
                        tokio::task::yield_now().await;
                        stream.write_all(b"host: door\r\n\r\n").await.unwrap();
                        let mut head = Vec::new();
                        while !head.ends_with(b"\r\n\r\n") {
                            head.push(stream.read_u8().await.unwrap());
                        }
                        let late = head.starts_with(b"HTTP/1.1 503");
                        assert!(late || head.starts_with(b"HTTP/1.1 200"));
                        told.fetch_or(late, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
            clients.join_all().await;
            shutdown.cancel();
        };
        tokio::join!(serving, asking);
    }
}
