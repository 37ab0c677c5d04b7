//! Hours of everything at once, of which `./test` does two minutes: viewers who come, leave and dawdle, upstreams that
//! die and come back. Every answer is whole and right or an error, and nothing grows.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::Response;
use edge::{Config, MEMORY_MB_MIN};
use metrics_exporter_prometheus::PrometheusBuilder;
use support::{Client, Edge, HANG, next, read};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// Seconds, unless `EDGE_SOAK_S` says otherwise.
const SECONDS: u64 = 120;
const CLIENTS: usize = 24;
/// A request may join a fetch from one that has just died, before the edge has heard of it.
const NOTICED: Duration = Duration::from_millis(500);
/// A thread that is woken so much later than it wants to be is on a machine that stood still: whoever was hung up on meanwhile
/// learns of it later, too.
const STOOD: Duration = Duration::from_millis(100);
/// Of the archive: three times what memory holds.
const SEGMENTS: u64 = 300;
const SEGMENT_BYTES: usize = 1_000_000;
/// What all else in this process may need: clients, upstreams, and buffers on the way.
const OTHER_BYTES_MAX: u64 = 300_000_000;

fn body(path: &str, len: usize) -> Vec<u8> {
    let mut body = path.as_bytes().repeat(len / path.len() + 1);
    body.truncate(len);
    body
}

fn len(path: &str) -> usize {
    if path.ends_with(".m3u8") { 4_000 } else { SEGMENT_BYTES }
}

async fn answer(request: Request) -> Response<axum::body::Body> {
    let path = request.uri().path().to_owned();
    let lifetime = match &*path {
        p if p.ends_with(".m3u8") => "max-age=1, stale-while-revalidate=1",
        p if p.starts_with("/alone/") => "no-store",
        _ => "max-age=600",
    };
    sleep(Duration::from_millis(fastrand::u64(0..40))).await;
    let body = body(&path, len(&path));
    Response::builder().header("cache-control", lifetime).body(body.into()).unwrap()
}

/// An upstream on a thread of its own, so that it can die with all its connections.
struct Mortal(Option<(oneshot::Sender<()>, std::thread::JoinHandle<()>)>);

impl Mortal {
    /// Connections wait for it from when this returns.
    fn at(address: SocketAddr) -> Mortal {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (kill, killed) = oneshot::channel();
        let life = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let serve = axum::serve(listener, axum::Router::new().fallback(answer));
                tokio::select! { _ = serve => {}, _ = killed => {} }
            });
            runtime.shutdown_background();
        });
        Mortal(Some((kill, life)))
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        if let Some((kill, life)) = self.0.take() {
            let _ = kill.send(());
            let _ = life.join();
        }
    }
}

/// What excuses an error: an upstream that dies while it is asked, that there is none, or that all of this stood still.
#[derive(Default)]
struct Trouble {
    deaths: AtomicUsize,
    dying: AtomicBool,
    nobody: AtomicBool,
    /// Of the machine.
    pauses: AtomicUsize,
    /// Of the last death.
    at: Mutex<Option<Instant>>,
}

impl Trouble {
    /// To be compared with what it is when the request has ended. `None`: already in trouble.
    fn before(&self) -> Option<usize> {
        let deaths = self.deaths.load(Ordering::SeqCst);
        let died = self.at.lock().unwrap().is_some_and(|at| at.elapsed() < NOTICED);
        let now = self.dying.load(Ordering::SeqCst) || self.nobody.load(Ordering::SeqCst) || died;
        (!now).then_some(deaths)
    }

    fn during(&self, kill: impl FnOnce()) {
        self.dying.store(true, Ordering::SeqCst);
        self.deaths.fetch_add(1, Ordering::SeqCst);
        kill();
        *self.at.lock().unwrap() = Some(Instant::now());
    }

    /// The machine stood still: to requests it is as if an upstream had died.
    fn felt(&self) {
        self.pauses.fetch_add(1, Ordering::SeqCst);
        self.deaths.fetch_add(1, Ordering::SeqCst);
        *self.at.lock().unwrap() = Some(Instant::now());
    }

    /// Watches the machine, until the test's process ends.
    fn notice_pauses(self: &Arc<Self>) {
        let trouble = Arc::downgrade(self);
        std::thread::spawn(move || {
            while let Some(trouble) = trouble.upgrade() {
                let tick = Instant::now();
                std::thread::sleep(Duration::from_millis(10));
                if tick.elapsed() > STOOD {
                    trouble.felt();
                }
            }
        });
    }

    fn over(&self, alive: usize) {
        self.nobody.store(alive == 0, Ordering::SeqCst);
        self.dying.store(false, Ordering::SeqCst);
    }
}

/// One viewer's next request. Whether it was answered with what was asked for.
async fn view(client: &Client, newest: u64) -> bool {
    let path = match fastrand::u32(0..10) {
        0..4 => format!("/live/{newest}.m4s"),
        4..7 => format!("/dvr/{}/1.m4s", fastrand::u64(0..SEGMENTS)),
        7..9 => "/live/v.m3u8".to_owned(),
        _ => format!("/alone/{}.json", fastrand::u64(0..9)),
    };
    let all = body(&path, len(&path));
    let range = fastrand::u32(0..8) == 0;
    let (first, last) = (fastrand::usize(0..all.len() / 2), fastrand::usize(all.len() / 2..all.len()));
    let value = format!("bytes={first}-{last}");
    let fields: &[(&str, &str)] = if range { &[("range", &value)] } else { &[] };
    let Ok(mut answer) = client.try_send(&path, fields).await else { return false };
    let expected = match answer.status().as_u16() {
        200 => &all[..],
        206 => &all[first..=last],
        _ => return false,
    };
    match fastrand::u32(0..20) {
        // Leaves in the middle.
        0 => return next(&mut answer).await.is_some_and(|piece| piece.is_ok()),
        // Dawdles.
        1 => sleep(Duration::from_millis(300)).await,
        _ => {}
    }
    match read(answer).await {
        Ok(got) => {
            assert!(got == expected, "{path} {value}: {} bytes of {}", got.len(), expected.len());
            true
        }
        // Cut, and known to be.
        Err(_) => false,
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_grows_and_nothing_is_wrong_while_upstreams_die() {
    let seconds = std::env::var("EDGE_SOAK_S").ok().map_or(SECONDS, |s| s.parse().unwrap());
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let gauge = |name: &str| -> f64 {
        let text = metrics.render();
        let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let mut addresses = Vec::new();
    for _ in 0..2 {
        addresses.push(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    }
    let mut upstreams: Vec<Option<Mortal>> = addresses.iter().map(|at| Some(Mortal::at(*at))).collect();
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        upstream: addresses.iter().map(|at| format!("http://{at}").parse().unwrap()).collect(),
        memory_mb: MEMORY_MB_MIN,
        disk: Some(folder.path().to_owned()),
        disk_mb: 64,
        ..Config::default()
    };
    let edge = Edge::of(config).await;

    let began = Instant::now();
    // Good ones, errors that are excused, and others.
    let counts: Arc<[AtomicU64; 3]> = Arc::default();
    let trouble = Arc::new(Trouble::default());
    trouble.notice_pauses();
    let viewers: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (client, counts, trouble) = (Client::of(&edge), counts.clone(), trouble.clone());
            tokio::spawn(async move {
                while began.elapsed() < Duration::from_secs(seconds) {
                    let before = trouble.before();
                    let viewed = view(&client, began.elapsed().as_secs() / 2);
                    let count = match timeout(HANG, viewed).await.expect("a request hangs") {
                        true => 0,
                        false if before.is_none() || before != trouble.before() => 1,
                        false => 2,
                    };
                    counts[count].fetch_add(1, Ordering::Relaxed);
                    // All of them at once are not the point.
                    sleep(Duration::from_millis(fastrand::u64(0..60))).await;
                }
            })
        })
        .collect();
    let (mut descriptors_max, mut resident_max) = (0, 0);
    while began.elapsed() < Duration::from_secs(seconds) {
        // One dies for a while; now and then while the other is dead.
        let dies = fastrand::usize(0..2);
        trouble.during(|| upstreams[dies] = None);
        trouble.over(upstreams.iter().flatten().count());
        sleep(Duration::from_millis(fastrand::u64(200..1_500))).await;
        for (upstream, at) in upstreams.iter_mut().zip(&addresses) {
            if upstream.is_none() && fastrand::u32(0..4) > 0 {
                *upstream = Some(Mortal::at(*at));
            }
        }
        trouble.over(upstreams.iter().flatten().count());
        sleep(Duration::from_millis(fastrand::u64(500..2_000))).await;
        assert!(gauge("edge_memory_bytes") <= MEMORY_MB_MIN as f64 * 1e6);
        descriptors_max = descriptors().max(descriptors_max);
        resident_max = resident_bytes().max(resident_max);
    }
    for viewer in viewers {
        viewer.await.unwrap();
    }
    let [good, excused, bad] = [0, 1, 2].map(|count: usize| counts[count].load(Ordering::Relaxed));
    println!(
        "{good} good, {excused} errors while upstreams died or were dead, {bad} at other times; the machine stood still \
         {} times; at most {descriptors_max} descriptors, {} MB",
        trouble.pauses.load(Ordering::SeqCst),
        resident_max / 1_000_000
    );
    assert!(good > 20 * seconds, "{good} good in {seconds} s");
    assert!(bad == 0, "{bad} errors with an upstream alive, {good} good");
    assert!(resident_max < MEMORY_MB_MIN * 1_000_000 + OTHER_BYTES_MAX, "{resident_max} bytes");
    // A connection for each client, and what they fetch at once; not one for each request that ever was.
    assert!(descriptors_max < 400, "{descriptors_max} descriptors");
    let settled = async {
        while gauge("edge_held_requests") != 0.0 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(HANG, settled).await.expect("requests are held for nobody");
}
