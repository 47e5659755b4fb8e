//! Loads of edges: what is read from text, and what from servers and agents that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, as tests themselves

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use poolsync::load::{
    CountError, Direction, EdgeLoadReport, Expression, Field, Fields, Gather, Interfaces, JsonError,
    LoadError, Pointer, PrometheusError, Reader, Selector, Source, Url, UrlError, collect, matching,
    number_at,
};
use poolsync::snmp::{Credentials, Limits, Recording, ReplayAgent, Secret, Target, Transport};
use poolsync::steer::{Amount, Loads, Sample};
use poolsync::table::Name;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const TEXT: &str = r#"# HELP node_network_transmit_bytes_total Network device statistic.
# TYPE node_network_transmit_bytes_total counter
node_network_transmit_bytes_total{device="eth0"} 1.25e+06
node_network_transmit_bytes_total{device="eth1",} 2000
edge_sessions 42 1700000000000
edge_p95_seconds{quantile="0.95",path="/a\"b\\c\nd"} 0.012
edge_broken NaN
edge_endless{le="+Inf"} +Inf

"#;

fn values(selector: &str) -> Vec<f64> {
    matching(TEXT.as_bytes(), &selector.parse().unwrap()).unwrap()
}

fn value(expression: &str) -> Result<f64, PrometheusError> {
    expression.parse::<Expression>().unwrap().value(TEXT.as_bytes())
}

#[test]
fn metrics_are_found_by_name_and_labels() {
    assert_eq!(values("node_network_transmit_bytes_total"), [1_250_000.0, 2_000.0]);
    assert_eq!(values(r#"node_network_transmit_bytes_total{device="eth1"}"#), [2_000.0]);
    assert_eq!(values(r#"edge_p95_seconds{path="/a\"b\\c\nd", quantile="0.95"}"#), [0.012]);
    assert_eq!(values(r#"edge_endless{le="+Inf"}"#), [f64::INFINITY]);
    assert!(values("edge_broken")[0].is_nan());
    assert!(values("edge").is_empty(), "a name is not a beginning of one");
}

#[test]
fn an_expression_gathers_what_matches() {
    assert_eq!(value("edge_sessions"), Ok(42.0));
    assert_eq!(value("sum(node_network_transmit_bytes_total)"), Ok(1_252_000.0));
    assert_eq!(value("max( node_network_transmit_bytes_total )"), Ok(1_250_000.0));
    assert!(matches!(
        value("node_network_transmit_bytes_total"),
        Err(PrometheusError::Several { count: 2, .. })
    ));
    assert_eq!(value("nothing"), Err(PrometheusError::Missing("nothing".into())));
    let rate: Expression = r#"rate(sum(x{a="b"}))"#.parse().unwrap();
    assert!(rate.rate && rate.gather == Gather::Sum && rate.selector.labels == [("a".into(), "b".into())]);
    for wrong in ["", "9x", "a{b=c}", "a{b=\"c\"", "avg(a)", "rate(a", "a b", "sum(rate(a))"] {
        assert!(wrong.parse::<Expression>().is_err(), "{wrong}");
    }
}

#[test]
fn a_wrong_line_makes_the_whole_text_doubtful() {
    let selector: Selector = "a".parse().unwrap();
    for wrong in [
        "a 1\nb",
        "a 1\n}{ 2",
        "a 1\nb{x=\"1} 2",
        "a 1\nb 0x10",
        "a 1\nb 1 2 3",
        "a 1\nb infinity",
        "a 1\nb{x=\"\\q\"} 1",
    ] {
        assert_eq!(matching(wrong.as_bytes(), &selector), Err(PrometheusError::Line { line: 2 }), "{wrong}");
    }
    assert_eq!(matching(b"a 1\n\xff", &selector), Err(PrometheusError::Encoding));
}

#[test]
fn numbers_are_found_by_pointer() {
    let text =
        br#"{"load": {"bps": 12.5, "as text": " 7e3 ", "none": null}, "list": [1, 2], "a/b": {"m~n": 3}}"#;
    let at = |pointer: &str| number_at(text, &pointer.parse().unwrap());
    assert_eq!(at("/load/bps"), Ok(12.5));
    assert_eq!(at("/load/as text"), Ok(7_000.0));
    assert_eq!(at("/list/1"), Ok(2.0));
    assert_eq!(at("/a~1b/m~0n"), Ok(3.0));
    assert_eq!(at("/load/bits"), Err(JsonError::Missing("/load/bits".into())));
    assert_eq!(at("/load/none"), Err(JsonError::NoNumber("/load/none".into())));
    assert_eq!(at(""), Err(JsonError::NoNumber(String::new())));
    assert!(matches!(number_at(b"{", &"/a".parse().unwrap()), Err(JsonError::Text(_))));
    for wrong in ["load", "/a~2", "/a~"] {
        assert!(wrong.parse::<Pointer>().is_err(), "{wrong}");
    }
}

#[test]
fn urls_are_taken_apart_or_refused() {
    let url: Url = "http://edge-1.example:9100/metrics?x=1#part".parse().unwrap();
    assert_eq!((url.host.as_str(), url.port, url.path.as_str()), ("edge-1.example", 9100, "/metrics?x=1"));
    let url: Url = "http://[2001:db8::1]".parse().unwrap();
    assert_eq!(
        (url.host.as_str(), url.port, url.path.as_str(), url.authority()),
        ("2001:db8::1", 80, "/", "[2001:db8::1]")
    );
    let url: Url = "http://a?q".parse().unwrap();
    assert_eq!((url.path.as_str(), url.to_string().as_str()), ("/?q", "http://a/?q"));
    assert!(matches!("https://a/".parse::<Url>(), Err(UrlError::Scheme(_))));
    for wrong in
        ["http://", "http://:80", "http://a:0", "http://a:99999", "http://[::1", "http://[x]", "http://u@h"]
    {
        assert!(matches!(wrong.parse::<Url>(), Err(UrlError::Authority(_))), "{wrong}");
    }
    assert!(matches!("http://a/ b".parse::<Url>(), Err(UrlError::Characters(_))));
}

/// A server that gives each connection the next of some answers, and repeats the last.
async fn server(answers: Vec<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut turn = 0;
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await.is_ok_and(|n| n > 0)
            {
            }
            let answer = answers.get(turn).or(answers.last()).cloned().unwrap_or_default();
            turn += 1;
            if answer.is_empty() {
                // Says nothing, and keeps the connection.
                tokio::spawn(async move {
                    let mut rest = [0; 64];
                    while stream.read(&mut rest).await.is_ok_and(|n| n > 0) {}
                });
                continue;
            }
            let _ = stream.write_all(&answer).await;
        }
    });
    address
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn url(address: SocketAddr) -> Url {
    format!("http://{address}/load").parse().unwrap()
}

fn json(address: SocketAddr) -> Source {
    let field = |pointer: &str, factor| Some(Field { place: pointer.parse().unwrap(), factor });
    let fields = Fields { load: field("/load", 8.0), p95_ms: field("/p95", 1000.0), ..Fields::default() };
    Source::Json { url: url(address), authorization: Some("Bearer x".into()), fields: Box::new(fields) }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn reader(source: Source) -> Reader {
    Reader::new(source, Amount::new(1000.0), Duration::from_secs(5))
}

#[tokio::test]
async fn json_is_asked_for_and_read_whole_or_not_at_all() {
    let address = server(vec![
        ok(r#"{"load": 10, "p95": 0.02}"#),
        ok(r#"{"load": 10}"#),
        ok(r#"{"load": -1, "p95": 0.02}"#),
        b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"nonsense\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec(),
    ])
    .await;
    let mut reader = reader(json(address));
    let sample = reader.read(None, at(0)).await.unwrap();
    let expected = Sample {
        load: Amount::new(80.0),
        capacity: Amount::new(1000.0),
        p95_ms: Amount::new(20.0),
        sessions: None,
    };
    assert_eq!(sample, expected);
    let mut kinds = Vec::new();
    for second in 1..=5 {
        kinds.push(reader.read(None, at(second)).await.unwrap_err().kind());
    }
    assert_eq!(kinds, ["json", "number", "http", "http", "http"]);
}

#[tokio::test]
async fn a_server_that_says_nothing_or_is_not_there_leaves_the_load_unknown() {
    let silent = server(vec![Vec::new()]).await;
    let mut slow = Reader::new(json(silent), None, Duration::from_millis(50));
    assert!(matches!(slow.read(None, at(0)).await, Err(LoadError::Timeout)));
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    assert_eq!(reader(json(gone)).read(None, at(0)).await.unwrap_err().kind(), "http");
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 17000000\r\n\r\n".to_vec();
    answer.resize(answer.len() + 17_000_000, b'1');
    let error = reader(json(server(vec![answer]).await)).read(None, at(0)).await.unwrap_err();
    assert!(matches!(&error, LoadError::Http { detail, .. } if detail.contains("limit")), "{error}");
}

#[tokio::test]
async fn prometheus_counters_become_rates() {
    let text =
        |octets: u64| ok(&format!("tx_bytes{{if=\"a\"}} {octets}\ntx_bytes{{if=\"b\"}} 0\nsessions 3\n"));
    let address = server(vec![text(1_000), text(2_250), text(10), text(20)]).await;
    let field = |expression: &str, factor| Some(Field { place: expression.parse().unwrap(), factor });
    let fields = Fields {
        load: field("rate(sum(tx_bytes))", 8.0),
        sessions: field("sessions", 1.0),
        ..Fields::default()
    };
    let mut reader =
        reader(Source::Prometheus { url: url(address), authorization: None, fields: Box::new(fields) });
    assert!(matches!(reader.read(None, at(0)).await, Err(LoadError::Count(CountError::First))));
    let sample = reader.read(None, at(10)).await.unwrap();
    assert_eq!((sample.load, sample.sessions), (Amount::new(1_000.0), Amount::new(3.0)));
    assert!(matches!(reader.read(None, at(20)).await, Err(LoadError::Count(CountError::Reset))));
    assert_eq!(reader.read(None, at(30)).await.unwrap().load, Amount::new(8.0));
}

fn device(up_time: u32, octets: &[(u32, &str, u64)]) -> Recording {
    let mut text = format!("1.3.6.1.2.1.1.3.0|67|{up_time}\n");
    for (column, tag) in [(1, 4), (6, 70), (10, 70), (15, 66), (19, 67)] {
        for (index, name, octets) in octets {
            let value = match column {
                1 => (*name).to_owned(),
                6 => (octets * 10).to_string(),
                10 => octets.to_string(),
                15 => "10000".to_owned(),
                _ => "0".to_owned(),
            };
            text += &format!("1.3.6.1.2.1.31.1.1.1.{column}.{index}|{tag}|{value}\n");
        }
    }
    Recording::parse(&text).unwrap()
}

fn counters(address: SocketAddr, interfaces: Interfaces, direction: Direction) -> Reader {
    let limits = Limits { timeout: Duration::from_millis(300), retries: 0, ..Limits::default() };
    let credentials = Credentials::V2c(Secret::new("public"));
    let target = Box::new(Target { address, credentials, limits, engine: None, reach: Default::default() });
    Reader::new(Source::Snmp { host: None, target, interfaces, direction }, None, Duration::from_secs(5))
}

fn names(names: &[&str]) -> Interfaces {
    Interfaces::Names(names.iter().map(|name| (*name).to_owned()).collect())
}

#[tokio::test]
async fn octets_are_counted_by_name_even_where_a_restart_gives_other_indexes() {
    let first = device(1_000, &[(1, "lo", 7), (5, "xe-0/0/0", 1_000), (6, "xe-0/0/1", 0)]);
    let agent =
        ReplayAgent::start("127.0.0.1:0".parse().unwrap(), vec![("public".into(), first)]).await.unwrap();
    let transport = Transport::new().unwrap();
    let mut reader = counters(agent.address(), names(&["xe-0/0/0", "xe-0/0/1"]), Direction::Out);
    let mut received = counters(agent.address(), Interfaces::Indexes(vec![5]), Direction::In);
    for reader in [&mut reader, &mut received] {
        let first = reader.read(Some(&transport), at(0)).await;
        assert!(matches!(first, Err(LoadError::Count(CountError::First))), "{first:?}");
    }
    agent.replace("public", device(2_000, &[(1, "lo", 9_999), (5, "xe-0/0/0", 2_000), (6, "xe-0/0/1", 250)]));
    let sample = reader.read(Some(&transport), at(10)).await.unwrap();
    // 1,250 octets in ten seconds, on two interfaces of ten gigabits.
    assert_eq!((sample.load, sample.capacity), (Amount::new(1_000.0), Amount::new(2e10)));
    let sample = received.read(Some(&transport), at(10)).await.unwrap();
    assert_eq!((sample.load, sample.capacity), (Amount::new(8_000.0), Amount::new(1e10)));

    agent.replace("public", device(10, &[(1, "lo", 0), (7, "xe-0/0/0", 90_000), (8, "xe-0/0/1", 0)]));
    let other = reader.read(Some(&transport), at(100)).await;
    assert!(matches!(other, Err(LoadError::Count(CountError::Others))), "{other:?}");
    let gone = received.read(Some(&transport), at(100)).await;
    assert!(matches!(gone, Err(LoadError::Interface { .. })), "{gone:?}");
    // The other indexes are the ones to count from.
    agent.replace("public", device(1_010, &[(1, "lo", 0), (7, "xe-0/0/0", 91_250), (8, "xe-0/0/1", 0)]));
    assert_eq!(reader.read(Some(&transport), at(110)).await.unwrap().load, Amount::new(1_000.0));
    agent.replace("public", device(5, &[(1, "lo", 0), (7, "xe-0/0/0", 99_999), (8, "xe-0/0/1", 0)]));
    let reset = reader.read(Some(&transport), at(300)).await;
    assert!(matches!(reset, Err(LoadError::Count(CountError::Reset))), "{reset:?}");
}

#[tokio::test]
async fn what_a_device_does_not_tell_is_an_error() {
    let recording = Recording::parse(
        "1.3.6.1.2.1.31.1.1.1.1.1|4|a\n1.3.6.1.2.1.31.1.1.1.1.2|4|a\n1.3.6.1.2.1.31.1.1.1.10.1|65|5\n",
    )
    .unwrap();
    let agent =
        ReplayAgent::start("127.0.0.1:0".parse().unwrap(), vec![("public".into(), recording)]).await.unwrap();
    let transport = Transport::new().unwrap();
    for (interfaces, word) in [
        (names(&["a"]), "several"),
        (names(&["b"]), "none of that name"),
        (Interfaces::Indexes(vec![1]), "no 64-bit"),
        (Interfaces::Indexes(vec![9]), "no 64-bit"),
    ] {
        let error = counters(agent.address(), interfaces, Direction::Out).read(Some(&transport), at(0)).await;
        let error = error.unwrap_err();
        assert!(matches!(error, LoadError::Interface { .. }) && error.to_string().contains(word), "{error}");
    }
    drop(agent);
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let error =
        counters(address, Interfaces::Indexes(vec![1]), Direction::Out).read(Some(&transport), at(0)).await;
    assert_eq!(error.unwrap_err().kind(), "snmp");
    let none = counters(address, Interfaces::Indexes(vec![1]), Direction::Out).read(None, at(0)).await;
    assert_eq!(none.unwrap_err().kind(), "snmp");
}

#[tokio::test]
async fn one_cycle_is_one_snapshot_of_all_edges() {
    let good = server(vec![ok(r#"{"load": 10, "p95": 0.02}"#)]).await;
    let bad = server(vec![ok("{}")]).await;
    let mut readers: BTreeMap<Name, Reader> = BTreeMap::from([
        ("e1".into(), reader(json(good))),
        ("e2".into(), reader(json(bad))),
        ("e3".into(), reader(Source::Static)),
    ]);
    let mut loads = Loads::default();
    for cycle in 1..=3 {
        let collected = collect(None, &mut readers, at(cycle)).await;
        assert!(!collected.first());
        loads = loads.next(&collected.samples());
        let texts: Vec<String> =
            EdgeLoadReport::all(&loads, &collected).iter().map(EdgeLoadReport::text).collect();
        let unknown = format!("e2: unknown for {cycle} cycle(s): json: the answer has nothing at /load");
        assert_eq!(texts, ["e1: 80 of 1000 (8 %), p95 20.0 ms", &unknown, "e3: capacity 1000"]);
    }
    let missed = |edge: &str| loads.of(&edge.into()).missed;
    assert_eq!(["e1", "e2", "e3"].map(missed), [0, 3, 0]);
    assert_eq!(loads.of(&"e1".into()).load(), Some(80.0));
    assert_eq!((loads.of(&"e3".into()).load(), loads.of(&"e3".into()).capacity()), (None, Some(1000.0)));
}

#[tokio::test]
async fn a_first_reading_of_a_counter_is_told_apart() {
    let address = server(vec![ok("x 1\n"), ok("x 5\n")]).await;
    let fields =
        Fields { load: Some(Field { place: "rate(x)".parse().unwrap(), factor: 1.0 }), ..Fields::default() };
    let source = Source::Prometheus { url: url(address), authorization: None, fields: Box::new(fields) };
    let mut readers = BTreeMap::from([(Name::from("e1"), reader(source))]);
    assert!(collect(None, &mut readers, at(0)).await.first());
    let second = collect(None, &mut readers, at(2)).await;
    assert!(!second.first());
    assert_eq!(second.samples()[&Name::from("e1")].unwrap().load, Amount::new(2.0));
}

proptest! {
    #[test]
    fn foreign_octets_never_break_a_reader(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = matching(&octets, &"a".parse().unwrap());
        let _ = number_at(&octets, &"/a/0".parse().unwrap());
    }

    #[test]
    fn nor_does_text_that_is_nearly_right(text in "[a-c{}=\",\\\\ 0-9.eE+\n#NaInf-]{0,120}") {
        let _ = matching(text.as_bytes(), &"a".parse().unwrap());
        let _ = text.parse::<Expression>();
        let _ = text.parse::<Pointer>();
        let _ = format!("http://{text}").parse::<Url>();
    }

    #[test]
    fn what_is_written_is_read(
        name in "[a-z_:][a-z0-9_:]{0,8}",
        labels in prop::collection::btree_map("[a-z_]{1,6}", "[ -~]{0,12}", 0..4),
        value in -1e12..1e12_f64,
    ) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let list: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{}\"", escape(v))).collect();
        let text = format!("# x\n{name}{{{}}} {value}\nother 1\n", list.join(","));
        let selector = Selector { name: name.clone(), labels: labels.into_iter().collect() };
        let mut found = matching(text.as_bytes(), &selector).unwrap();
        if name == "other" && selector.labels.is_empty() {
            found.truncate(1);
        }
        prop_assert_eq!(found, vec![value]);
    }
}
