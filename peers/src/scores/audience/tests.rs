//! The audience before the server that does the least.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use super::speech::Mark;
use super::tally::Counts;
use super::*;
use crate::scores::bare::Bare;

#[test]
fn an_audience_subscribes_and_counts() {
    let bench = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut bare = Bare::open("127.0.0.1:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap()).unwrap();
    let (listens, publishes) = bare.addresses().unwrap();
    std::thread::spawn(move || bare.run());

    let speech = Speech {
        path: "/".to_owned(),
        mark: Mark { text: "\"us\":".to_owned(), unit_us: 1 },
        ..Speech::default()
    };
    let config = Config {
        control: bench.local_addr().unwrap(),
        target: listens,
        speech: serde_json::to_string(&speech).unwrap(),
        nth: 250,
        channels: 1,
        each: 1,
    };
    let mut audience = Audience::new(config).unwrap();
    std::thread::spawn(move || audience.serve());
    let (mut control, _) = bench.accept().unwrap();
    let mut answers = BufReader::new(control.try_clone().unwrap()).lines();
    let mut ask = |line: &str| {
        writeln!(control, "{line}").unwrap();
        answers.next().unwrap().unwrap()
    };
    assert_eq!(ask("open 300"), r#"{"live":300,"failed":0,"why":null}"#);

    let mut publisher = TcpStream::connect(publishes).unwrap();
    let at = now();
    writeln!(publisher, "{{\"us\":{at}}}").unwrap();
    let mut all = Counts::default();
    while all.deliveries < 300 {
        all.add(serde_json::from_str(&ask("tally")).unwrap());
    }
    assert_eq!((all.deliveries, all.closed, all.messages.len()), (300, 0, 1));
    assert_eq!((all.messages[0].0, all.messages[0].1), (at, 300));
    assert_eq!(ask("open 1"), r#"{"live":301,"failed":0,"why":null}"#);
}
