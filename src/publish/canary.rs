//! Whether a consumer answers as the files say that it was just told of.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{HOST, LOCATION};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::dns::{self, Kind};
use super::probe::Probe;
use super::{Canary, Failure, FailureReason, Query};
use crate::format::groups::{Allowed, Domain};

/// How long one question may take.
const ONE: Duration = Duration::from_secs(2);
/// How long to wait before a question is asked again.
const PAUSE: Duration = Duration::from_millis(50);
/// How much of a body is looked at.
const BODY: usize = 4096;

/// Asks until every probe is answered as it should be, or time is up.
pub(super) async fn confirm(canary: &Canary, name: Option<&Domain>, probes: &[Probe]) -> Result<(), Failure> {
    let end = Instant::now() + canary.timeout;
    for probe in probes {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let problem = match ask(&canary.query, name, probe, left.min(ONE)).await {
                Ok(()) => break,
                Err(problem) => problem,
            };
            if Instant::now() + PAUSE >= end {
                let detail = format!("for {}: {problem}", probe.viewer);
                return Err(Failure::new(FailureReason::Canary, detail));
            }
            sleep(PAUSE).await;
        }
    }
    Ok(())
}

async fn ask(query: &Query, name: Option<&Domain>, probe: &Probe, limit: Duration) -> Result<(), String> {
    match query {
        Query::Dns(server) => {
            let name = name.ok_or("the export has no `name` to ask for")?;
            let v4 = probe.allowed.addresses.iter().any(|address| address.is_ipv4());
            // For what the group has; for a group of hosts either leads to the CNAME.
            let kind = if v4 || probe.allowed.addresses.is_empty() { Kind::A } else { Kind::Aaaa };
            let answer = dns::ask(*server, name, kind, probe.viewer, limit).await?;
            judge_dns(&answer, probe)
        }
        Query::Http(url) => {
            let late = |_| format!("{url}: no answer within {limit:?}");
            timeout(limit, get(url, probe)).await.map_err(late)?
        }
    }
}

fn judge_dns(answer: &dns::Answer, probe: &Probe) -> Result<(), String> {
    let Allowed { addresses, hosts } = &probe.allowed;
    let to_host = answer.names.iter().any(|name| hosts.iter().any(|host| host.as_str() == name));
    let to_addresses = !answer.addresses.is_empty() && answer.addresses.iter().all(|a| addresses.contains(a));
    if answer.code == 0 && (to_host || to_addresses) {
        return Ok(());
    }
    let said: Vec<String> =
        answer.names.iter().cloned().chain(answer.addresses.iter().map(ToString::to_string)).collect();
    Err(format!("it answers [{}] with code {}, not as group {}", said.join(", "), answer.code, probe.token))
}

async fn get(url: &str, probe: &Probe) -> Result<(), String> {
    let failed = |e: &dyn std::fmt::Display| format!("{url}: {e}");
    let uri: Uri = url.parse().map_err(|e| failed(&e))?;
    let authority = uri.authority().ok_or_else(|| failed(&"no host"))?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream =
        TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await.map_err(|e| failed(&e))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| failed(&e))?;
    // It ends with the response.
    tokio::spawn(connection);
    let request = Request::get(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(HOST, authority.as_str())
        .header("X-Forwarded-For", probe.viewer.to_string())
        .header("Connection", "close")
        .body(Empty::<Bytes>::new())
        .map_err(|e| failed(&e))?;
    let response = sender.send_request(request).await.map_err(|e| failed(&e))?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, BODY).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    judge_http(&Response::from_parts(parts, body), probe)
}

/// A redirect must lead to the group; any other answer must say its token.
fn judge_http(response: &Response<Bytes>, probe: &Probe) -> Result<(), String> {
    let status = response.status();
    if status.is_redirection() {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let host = location.and_then(|location| location.parse::<Uri>().ok()?.host().map(str::to_owned));
        if host.as_deref().is_some_and(|host| is_of(host, &probe.allowed)) {
            return Ok(());
        }
        let location = location.unwrap_or("nowhere").escape_debug().to_string();
        return Err(format!("it redirects to {location}, not to group {}", probe.token));
    }
    let text = String::from_utf8_lossy(response.body());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if status.is_success() && text.split(|c| !is_word(c)).any(|word| word == probe.token.as_str()) {
        return Ok(());
    }
    let said: String = text.trim().escape_debug().take(80).collect();
    Err(format!("it answers {status} `{said}`, which does not name group {}", probe.token))
}

fn is_of(host: &str, allowed: &Allowed) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(address) => allowed.addresses.contains(&address),
        Err(_) => host.parse::<Domain>().is_ok_and(|host| allowed.hosts.contains(&host)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Token;

    fn probe() -> Probe {
        let allowed = Allowed {
            addresses: vec!["198.51.100.10".parse().unwrap(), "2001:db8::1".parse().unwrap()],
            hosts: vec!["gz-01.example.net".parse().unwrap()],
        };
        Probe { viewer: "192.0.2.1".parse().unwrap(), token: Token::new("gz-01").unwrap(), allowed }
    }

    fn http(status: u16, location: &str, body: &'static str) -> Result<(), String> {
        let response = Response::builder().status(status).header(LOCATION, location);
        judge_http(&response.body(Bytes::from_static(body.as_bytes())).unwrap(), &probe())
    }

    #[test]
    fn a_redirect_must_lead_to_the_group() {
        for good in [
            "http://gz-01.example.net/x",
            "https://GZ-01.example.net:8443/",
            "http://198.51.100.10",
            "http://[2001:db8::1]/",
        ] {
            assert_eq!(http(302, good, ""), Ok(()), "{good}");
        }
        for bad in [
            "http://gz-02.example.net/gz-01.example.net",
            "/gz-01",
            "http://198.51.100.100/",
            "http://[2001:db8::2]/",
            "",
        ] {
            assert!(http(302, bad, "gz-01").unwrap_err().contains("not to group gz-01"), "{bad}");
        }
    }

    #[test]
    fn another_answer_must_name_the_group_as_a_word() {
        for good in ["gz-01", "edge=gz-01\n", "{\"group\":\"gz-01\"}"] {
            assert_eq!(http(200, "http://elsewhere/", good), Ok(()), "{good}");
        }
        for bad in ["gz-011", "x-gz-01", "", "gz_01"] {
            assert!(http(200, "http://gz-01.example.net/", bad).is_err(), "{bad}");
        }
        assert!(http(500, "/", "gz-01").unwrap_err().contains("500"));
    }

    #[test]
    fn dns_must_answer_with_addresses_or_a_host_of_the_group() {
        let judge = |code, addresses: &[&str], names: &[&str]| {
            let answer = dns::Answer {
                code,
                addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(),
                names: names.iter().map(|n| (*n).to_owned()).collect(),
            };
            judge_dns(&answer, &probe())
        };
        assert_eq!(judge(0, &["198.51.100.10"], &[]), Ok(()));
        assert_eq!(judge(0, &["2001:db8::1", "198.51.100.10"], &[]), Ok(()));
        assert_eq!(judge(0, &[], &["gz-01.example.net"]), Ok(()));
        // What the host's own address is, is not ours to say.
        assert_eq!(judge(0, &["203.0.113.1"], &["gz-01.example.net"]), Ok(()));
        assert!(judge(3, &["198.51.100.10"], &[]).is_err());
        assert!(judge(0, &[], &[]).is_err());
        assert!(judge(0, &["198.51.100.10", "198.51.100.11"], &[]).is_err());
        let error = judge(0, &["198.51.100.11"], &["gz-02.example.net"]).unwrap_err();
        assert_eq!(error, "it answers [gz-02.example.net, 198.51.100.11] with code 0, not as group gz-01");
    }
}
