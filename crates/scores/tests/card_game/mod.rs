//! A match told by hand.

#![allow(dead_code)]

use scores::card::{Book, Card, cricket};
use scores::cricket::{Delivery, Dismissal, Extras, Happening, Kind, Place, Target, Wicket};
use scores::{Body, Event, Sport};

pub(crate) fn folded(sport: Sport, events: &[Event]) -> Book {
    let mut book = Book::new(sport);
    events.iter().for_each(|event| {
        book.take(event);
    });
    book
}

/// Events by hand.
pub(crate) struct Game {
    pub(crate) now_ms: i64,
    pub(crate) events: Vec<Event>,
}

impl Game {
    pub(crate) fn new() -> Game {
        Game { now_ms: 0, events: Vec::new() }
    }

    /// With a toss and the first innings begun.
    pub(crate) fn t20() -> Game {
        let mut game = Game::new();
        game.toss(Some(20));
        game.start(1, "A", "B", false, None);
        game
    }

    pub(crate) fn say(&mut self, at: Place, what: Kind) -> Event {
        let body = Body::Cricket(Happening { at, what });
        body.check().expect("can be");
        self.push(body)
    }

    pub(crate) fn push(&mut self, body: Body) -> Event {
        self.now_ms += 1_000;
        let event_id = body.event_id();
        let revision = 1 + self.events.iter().filter(|event| event.event_id == event_id).count() as u32;
        let event = Event {
            match_id: "m".into(),
            event_id,
            revision,
            provider_id: "p".into(),
            provider_seq: self.events.len() as u64,
            venue_ms: self.now_ms,
            ingest_ms: self.now_ms,
            body,
        };
        self.events.push(event.clone());
        event
    }

    pub(crate) fn toss(&mut self, overs: Option<u32>) {
        self.say(
            Place::BEFORE,
            Kind::Toss {
                teams: ["A".into(), "B".into()],
                winner: "A".into(),
                decision: "bat".into(),
                balls_per_over: 6,
                overs,
                format: overs.map_or("Test", |_| "T20").into(),
            },
        );
    }

    pub(crate) fn start(
        &mut self,
        n: u32,
        batting: &str,
        bowling: &str,
        super_over: bool,
        target: Option<u32>,
    ) {
        let target = target.map(|runs| Target { runs, overs: None });
        let (batting, bowling) = (batting.into(), bowling.into());
        self.say(Place::start(n), Kind::InningsStarted { batting, bowling, super_over, target });
    }

    pub(crate) fn end(&mut self, innings: u32, how: &str) {
        self.say(Place::close(innings), Kind::InningsEnded { how: how.into() });
    }

    /// `a1` faces `b9`, with `a2` at the other end.
    pub(crate) fn delivery(runs: u32, extras: Extras) -> Delivery {
        Delivery {
            batter: "a1".into(),
            non_striker: "a2".into(),
            bowler: "b9".into(),
            runs,
            all_run: false,
            extras,
            wickets: Vec::new(),
        }
    }

    pub(crate) fn bowl(&mut self, innings: u32, over: u32, ball: u32, delivery: Delivery) -> Event {
        self.say(Place::ball(innings, over, ball), Kind::Delivery(delivery))
    }

    pub(crate) fn ball(&mut self, innings: u32, over: u32, ball: u32, runs: u32) -> Event {
        self.bowl(innings, over, ball, Game::delivery(runs, Extras::default()))
    }

    pub(crate) fn out(&mut self, innings: u32, over: u32, ball: u32, how: Dismissal, who: &str) {
        let mut delivery = Game::delivery(0, Extras::default());
        delivery.batter = who.into();
        delivery.wickets.push(Wicket { how, player_out: who.into(), fielders: vec![] });
        self.bowl(innings, over, ball, delivery);
    }

    /// An innings of so many runs, all of one ball a piece, all out at once.
    pub(crate) fn whole(&mut self, innings: u32, runs: u32) {
        for (ball, at) in (1..).zip((0..runs).step_by(20)) {
            self.ball(innings, 0, ball, (runs - at).min(20));
        }
        self.end(innings, "all_out");
    }

    pub(crate) fn book(&self) -> Book {
        folded(Sport::Cricket, &self.events)
    }

    pub(crate) fn card(&self) -> cricket::Card {
        match self.book().card(None) {
            Card::Cricket(card) => *card,
            Card::Football(_) => panic!("cricket"),
        }
    }
}
