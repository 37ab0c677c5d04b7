//! Several upstreams that are scripts, in simulated time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use bytes::Bytes;
use futures_util::future::{join_all, pending};
use http::{HeaderMap, Method, Response};
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use metrics_exporter_prometheus::PrometheusBuilder;
use proptest::prelude::*;
use tokio::time::{Duration, sleep};

use super::*;
use crate::fetch::Arriving;
use crate::limits::{
    BODY_STALL_MAX, EJECT_AFTER, EJECT_MIN, HEALTH_EVERY, HEDGE_AFTER, HEDGE_BURST, HEDGE_EVERY, HOLD_MAX,
    SHED_ELSEWHERE_MAX, UPSTREAM_REQUESTS_MAX,
};

type Fetched = Result<Answer, Failure>;

/// An upstream that does what a function of an ask and its number says, and counts.
struct Script<F>(F, Arc<AtomicUsize>);

impl<F, A> Fetch for Script<F>
where
    F: Fn(Ask, usize) -> A + Send + Sync + 'static,
    A: Future<Output = Fetched> + Send + 'static,
{
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Fetched> {
        Box::pin((self.0)(ask, self.1.fetch_add(1, SeqCst)))
    }
}

/// The upstreams under test and how often each was asked.
struct Stage {
    upstreams: Upstreams,
    asked: Vec<Arc<AtomicUsize>>,
}

impl Stage {
    fn new() -> Self {
        Stage { upstreams: Upstreams::over([], Spread::Ordered, None), asked: Vec::new() }
    }

    /// Another upstream behind those before it.
    fn with<F, A>(mut self, script: F) -> Self
    where
        F: Fn(Ask, usize) -> A + Send + Sync + 'static,
        A: Future<Output = Fetched> + Send + 'static,
    {
        let count = Arc::new(AtomicUsize::new(0));
        let name = format!("http://{}", self.asked.len());
        let inner = Arc::get_mut(&mut self.upstreams.0).unwrap();
        inner.peers.push(Peer::new(name, Box::new(Script(script, count.clone()))));
        self.asked.push(count);
        self
    }

    fn asked(&self) -> Vec<usize> {
        self.asked.iter().map(|count| count.load(SeqCst)).collect()
    }

    fn well(&self) -> Vec<bool> {
        self.upstreams.0.peers.iter().map(|peer| peer.is_well()).collect()
    }

    async fn get(&self) -> Fetched {
        self.upstreams.fetch(get(false)).await
    }

    /// Status and body.
    async fn text(&self, ask: Ask) -> (u16, String) {
        let answer = self.upstreams.fetch(ask).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

fn get(hedge: bool) -> Ask {
    Ask { method: Method::GET, target: "/m/1a.m4s".into(), headers: HeaderMap::new(), body: None, hedge }
}

fn post(body: Option<Arriving>) -> Ask {
    Ask { method: Method::POST, body, ..get(false) }
}

fn answer(status: u16, text: &'static str) -> Fetched {
    let mut answer = Response::builder().status(status);
    if status == 503 {
        answer = answer.header("retry-after", "1");
    }
    Ok(answer.body(Full::from(text).map_err(|never| match never {}).boxed_unsync()).unwrap())
}

async fn after(ms: u64, fetched: Fetched) -> Fetched {
    sleep(Duration::from_millis(ms)).await;
    fetched
}

/// Asserts that simulated time went by, and hardly more.
fn took(since: Instant, expected: Duration) {
    let took = since.elapsed();
    assert!(took >= expected && took < expected + Duration::from_millis(5), "{took:?} for {expected:?}");
}

#[tokio::test(start_paused = true)]
async fn a_late_one_is_overtaken_and_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let stage = metrics::with_local_recorder(&recorder, || {
        Stage::new().with(|_, _| pending()).with(|_, _| async { answer(200, "second") })
    });
    let began = Instant::now();
    assert_eq!(stage.text(get(true)).await, (200, "second".into()));
    took(began, HEDGE_AFTER);
    assert_eq!(stage.asked(), [1, 1]);
    let metrics = recorder.handle().render();
    for line in [
        "edge_upstream_hedges_total 1",
        "edge_upstream_fetches_total 2",
        "edge_upstream_failures_total{upstream=\"http://0\"} 1",
        "edge_upstream_ejected{upstream=\"http://0\"} 0",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line} is not in {metrics}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_asked_twice_is_not() {
    let stage = Stage::new()
        .with(|_, _| after(2_000, answer(200, "first")))
        .with(|_, _| async { answer(200, "second") });
    let began = Instant::now();
    assert_eq!(stage.text(get(false)).await.1, "first");
    took(began, Duration::from_secs(2));
    assert_eq!(stage.asked(), [1, 0]);

    let stage =
        Stage::new().with(|_, _| async { Err(Failure::Unreachable) }).with(|_, _| async { answer(200, "") });
    assert_eq!(stage.upstreams.fetch(post(None)).await.unwrap_err(), Failure::Unreachable);
    assert_eq!(stage.asked(), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn second_askings_hardly_add_to_the_load_when_everything_is_slow() {
    let stage =
        Stage::new().with(|_, _| after(1_000, answer(200, ""))).with(|_, _| after(1_000, answer(200, "")));
    const ASKS: u32 = 400;
    for _ in 0..ASKS {
        stage.text(get(true)).await;
    }
    let [first, second] = stage.asked()[..] else { panic!() };
    assert_eq!(first, ASKS as usize);
    assert!(second >= 2 && second <= (HEDGE_BURST + ASKS / HEDGE_EVERY) as usize, "{second}");
    assert_eq!(stage.well(), [true, true]);
}

#[tokio::test(start_paused = true)]
async fn the_first_knows_best_what_there_is_not() {
    // A second that was asked for fear of the first's silence, and has never heard of it.
    let stage =
        Stage::new().with(|_, _| after(1_000, answer(200, "first"))).with(|_, _| async { answer(404, "") });
    assert_eq!(stage.text(get(true)).await, (200, "first".into()));
    assert_eq!(stage.asked(), [1, 1]);
    // Better than nothing.
    let stage =
        Stage::new().with(|_, _| after(1_000, answer(500, ""))).with(|_, _| async { answer(404, "") });
    assert_eq!(stage.text(get(true)).await.0, 404);
    // An answer like any other.
    let stage = Stage::new().with(|_, _| async { answer(404, "") }).with(|_, _| async { answer(200, "") });
    assert_eq!(stage.text(get(true)).await.0, 404);
    assert_eq!((stage.asked(), stage.well()), (vec![1, 0], vec![true, true]));
}

#[tokio::test(start_paused = true)]
async fn failures_are_asked_elsewhere_and_passed_on_when_all_fail() {
    let stage = Stage::new()
        .with(|_, _| async { answer(502, "first") })
        .with(|_, _| async { Err(Failure::Cut) })
        .with(|_, n| async move { if n == 0 { answer(200, "third") } else { Err(Failure::Unreachable) } })
        .with(|_, _| async { answer(200, "one too many") });
    assert_eq!(stage.text(get(false)).await, (200, "third".into()));
    assert_eq!(stage.text(get(false)).await, (502, "first".into()));
    assert_eq!(stage.asked(), [2, 2, 2, 0]);
}

#[tokio::test(start_paused = true)]
async fn lack_of_room_is_taken_elsewhere_but_the_end_of_a_hold_is_not() {
    let stage = Stage::new().with(|_, _| async { answer(503, "") }).with(|_, _| async { answer(200, "") });
    for _ in 0..2 * EJECT_AFTER {
        assert_eq!(stage.text(get(false)).await.0, 200);
    }
    assert_eq!(stage.well(), [true, true]);
    let held = SHED_ELSEWHERE_MAX.as_millis() as u64;
    let stage =
        Stage::new().with(move |_, _| after(held, answer(503, ""))).with(|_, _| async { answer(200, "") });
    assert_eq!(stage.text(get(false)).await.0, 503);
    assert_eq!(stage.asked(), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_falls_silent_is_found_out_and_those_who_wait_for_it_are_moved() {
    let stage = Stage::new().with(|_, _| pending()).with(|_, _| async { answer(200, "second") });
    let began = Instant::now();
    // A playlist, which may be held for long and is not asked for twice.
    let upstreams = stage.upstreams.clone();
    let held = tokio::spawn(async move { upstreams.fetch(get(false)).await });
    join_all((0..EJECT_AFTER).map(|_| stage.text(get(true)))).await;
    assert_eq!(stage.well(), [false, true]);
    assert_eq!(held.await.unwrap().unwrap().status(), 200);
    took(began, HEDGE_AFTER);
    assert_eq!(stage.text(get(false)).await.1, "second");
    took(began, HEDGE_AFTER);
    assert_eq!(stage.asked()[0], 1 + EJECT_AFTER as usize);
}

#[tokio::test(start_paused = true)]
async fn silence_to_the_end_is_a_failure() {
    let stage = Stage::new().with(|_, _| pending());
    let began = Instant::now();
    assert_eq!(stage.get().await.unwrap_err(), Failure::Late);
    took(began, HOLD_MAX);
    join_all((1..EJECT_AFTER).map(|_| stage.get())).await;
    assert_eq!(stage.well(), [false]);
    // One that was asked in the middle of it may yet answer.
    let stage = Stage::new().with(|_, _| after(2_000, Err(Failure::Cut))).with(|_, _| pending());
    for _ in 0..EJECT_AFTER {
        assert_eq!(stage.get().await.unwrap_err(), Failure::Late);
    }
    assert_eq!(stage.well(), [false, true]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_out_comes_back_by_one_trial() {
    let stage = Stage::new()
        .with(|_, n| async move {
            if n < EJECT_AFTER as usize { answer(500, "") } else { after(100, answer(200, "first")).await }
        })
        .with(|_, _| async { answer(200, "second") });
    for _ in 0..2 * EJECT_AFTER {
        assert_eq!(stage.text(get(false)).await.1, "second");
    }
    let tries = EJECT_AFTER as usize;
    assert_eq!((stage.asked()[0], stage.well()), (tries, vec![false, true]));
    sleep(EJECT_MIN * 3 / 2).await;
    let began = Instant::now();
    for (_, text) in join_all((0..20).map(|_| stage.text(get(false)))).await {
        assert_eq!(text, "second");
    }
    took(began, Duration::ZERO);
    tokio::task::yield_now().await;
    assert_eq!((stage.asked()[0], stage.well()), (tries + 1, vec![false, true]));
    sleep(Duration::from_millis(110)).await;
    assert_eq!(stage.well(), [true, true]);
    assert_eq!(stage.text(get(false)).await.1, "first");
}

#[tokio::test(start_paused = true)]
async fn when_all_are_out_they_are_asked_anyway() {
    let broken = Arc::new(AtomicBool::new(true));
    let script = |text: &'static str| {
        let broken = broken.clone();
        move |_: Ask, _: usize| {
            let status = if broken.load(SeqCst) { 500 } else { 200 };
            async move { answer(status, text) }
        }
    };
    let stage = Stage::new().with(script("first")).with(script("second"));
    for _ in 0..EJECT_AFTER {
        assert_eq!(stage.text(get(false)).await.0, 500);
    }
    assert_eq!(stage.well(), [false, false]);
    broken.store(false, SeqCst);
    let began = Instant::now();
    assert_eq!(stage.text(get(false)).await.0, 200);
    took(began, Duration::ZERO);
    assert!(stage.well().contains(&true));
}

#[tokio::test(start_paused = true)]
async fn requests_under_way_are_bounded_with_their_bodies_and_not_queued() {
    let endless = || -> Fetched {
        let body =
            StreamBody::new(futures_util::stream::pending::<Result<http_body::Frame<Bytes>, Failure>>());
        Ok(Response::new(BodyExt::boxed_unsync(body)))
    };
    let stage = Stage::new().with(move |_, _| async move { endless() });
    let mut held = join_all((0..UPSTREAM_REQUESTS_MAX).map(|_| stage.get())).await;
    let began = Instant::now();
    assert_eq!(stage.get().await.unwrap_err(), Failure::Busy);
    took(began, Duration::ZERO);
    assert_eq!((stage.asked(), stage.well()), (vec![UPSTREAM_REQUESTS_MAX], vec![true]));
    held.pop();
    assert!(stage.get().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_cut_or_fall_silent_are_failures() {
    for silent in [false, true] {
        let stage = Stage::new().with(move |_, _| async move {
            let piece = futures_util::stream::iter([Ok(http_body::Frame::data(Bytes::from_static(b"half")))]);
            let rest = futures_util::stream::once(async move {
                if silent { pending().await } else { Err(Failure::Cut) }
            });
            let body = StreamBody::new(futures_util::StreamExt::chain(piece, rest));
            Ok(Response::new(BodyExt::boxed_unsync(body)))
        });
        for _ in 0..EJECT_AFTER {
            assert_eq!(stage.well(), [true]);
            let mut body = stage.get().await.unwrap().into_body();
            assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "half");
            let began = Instant::now();
            assert_eq!(body.frame().await.unwrap().unwrap_err(), Failure::Cut);
            took(began, if silent { BODY_STALL_MAX } else { Duration::ZERO });
        }
        assert_eq!(stage.well(), [false]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_who_breaks_off_does_not_put_an_upstream_out() {
    let stage =
        Stage::new().with(|_, n| async move { if n % 2 == 0 { Err(Failure::Cut) } else { pending().await } });
    for _ in 0..4 * EJECT_AFTER {
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        assert!(stage.upstreams.fetch(post(Some(body))).await.is_err());
    }
    assert_eq!(stage.well(), [true]);
}

#[tokio::test(start_paused = true)]
async fn health_is_asked_for_and_the_asking_ends_with_the_upstreams() {
    let status = Arc::new(AtomicUsize::new(200));
    let said = status.clone();
    let script = move |ask: Ask, _: usize| {
        let status = if ask.target == "/livez" { said.load(SeqCst) as u16 } else { 200 };
        async move { answer(status, "first") }
    };
    let count = Arc::new(AtomicUsize::new(0));
    let links: [(String, Box<dyn Fetch>); 2] = [
        ("first".into(), Box::new(Script(script, count.clone()))),
        (
            "second".into(),
            Box::new(Script(|_: Ask, _: usize| async { answer(200, "second") }, Arc::default())),
        ),
    ];
    let stage =
        Stage { upstreams: Upstreams::over(links, Spread::Ordered, Some("/livez")), asked: vec![count] };
    sleep(HEALTH_EVERY * 10).await;
    assert!((8..=12).contains(&stage.asked()[0]), "{:?}", stage.asked());
    for (says, well) in [(404, false), (200, true), (500, false)] {
        status.store(says, SeqCst);
        sleep(HEALTH_EVERY * 5).await;
        assert_eq!(stage.well(), [well, true]);
        assert_eq!(stage.text(get(false)).await.1, if well { "first" } else { "second" });
    }
    let peer = Arc::downgrade(&stage.upstreams.0.peers[0]);
    drop(stage);
    sleep(Duration::from_millis(1)).await;
    assert!(peer.upgrade().is_none());
}

#[tokio::test(start_paused = true)]
async fn objects_are_shared_out_and_only_those_of_the_dead_move() {
    let dead = Arc::new(AtomicBool::new(false));
    let links: Vec<(String, Box<dyn Fetch>)> = (0..3)
        .map(|n| {
            let dead = dead.clone();
            let script = move |_: Ask, _: usize| {
                let dead = n == 0 && dead.load(SeqCst);
                async move { if dead { Err(Failure::Unreachable) } else { answer(200, ["0", "1", "2"][n]) } }
            };
            (format!("http://{n}"), Box::new(Script(script, Arc::default())) as Box<dyn Fetch>)
        })
        .collect();
    let stage = Stage { upstreams: Upstreams::over(links, Spread::Hashed, None), asked: Vec::new() };
    let whose = async |n: usize| {
        stage.text(Ask { target: format!("/m/{n}a.m4s?_HLS_msn={}", fastrand::u8(..)), ..get(false) }).await.1
    };
    let mut before = Vec::new();
    for n in 0..300 {
        before.push(whose(n).await);
    }
    assert!(["0", "1", "2"].iter().all(|n| before.iter().filter(|b| b == n).count() > 60));
    dead.store(true, SeqCst);
    for (n, before) in before.iter().enumerate() {
        let after = whose(n).await;
        assert!(after != "0" && (before == "0" || &after == before));
    }
}

/// What an upstream may do with an ask.
#[derive(Clone, Copy, Debug)]
enum Act {
    Answer,
    Hold(u64),
    Status(u16),
    Refuse,
    Cut(u64),
    Ignore,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Act::Answer),
        (0_u64..400).prop_map(Act::Hold),
        prop_oneof![Just(500), Just(502), Just(503), Just(504)].prop_map(Act::Status),
        Just(Act::Refuse),
        (0_u64..1_000).prop_map(Act::Cut),
        Just(Act::Ignore),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Two upstreams do their worst and a third is well: everyone is answered, and nobody waits longer than it takes
    /// to lose patience with two of them.
    #[test]
    fn while_one_is_well_everyone_is_answered(
        acts in proptest::collection::vec((act(), act(), 0_u64..3_000), 1..60),
        order in Just(vec![0_usize, 1, 2]).prop_shuffle(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let worst: Result<Duration, TestCaseError> = runtime.block_on(async {
            let mut stage = Stage::new();
            for who in order {
                let acts = acts.clone();
                stage = stage.with(move |_, n| {
                    let (a, b, _) = acts[n % acts.len()];
                    let act = [a, b, Act::Answer][who];
                    async move {
                        match act {
                            Act::Answer => answer(200, ""),
                            Act::Hold(ms) => after(ms, answer(200, "")).await,
                            Act::Status(status) => answer(status, ""),
                            Act::Refuse => Err(Failure::Unreachable),
                            Act::Cut(ms) => after(ms, Err(Failure::Cut)).await,
                            Act::Ignore => pending().await,
                        }
                    }
                });
            }
            let mut worst = Duration::ZERO;
            for (_, _, pause) in &acts {
                sleep(Duration::from_millis(*pause)).await;
                let began = Instant::now();
                // The budget is for those who are late now and then; these are late all the time.
                (0..2 * HEDGE_EVERY).for_each(|_| stage.upstreams.0.hedges.earn());
                let fetched = stage.upstreams.fetch(get(true)).await;
                prop_assert_eq!(fetched.map(|a| a.status().as_u16()), Ok(200));
                worst = worst.max(began.elapsed());
            }
            Ok(worst)
        });
        prop_assert!(worst? <= 2 * HEDGE_AFTER + Duration::from_millis(10));
    }
}
