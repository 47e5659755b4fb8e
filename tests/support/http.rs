//! A small HTTP/1.1 client over a kept connection, for asking thousands of times.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers as sent, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A client of one server.
pub struct Client {
    server: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    /// A client that asks this server.
    pub fn new(server: SocketAddr) -> Self {
        Self { server, connection: None }
    }

    /// Gets a path with these headers. An idle connection that the server has closed is
    /// opened anew once. None where the server cannot be reached.
    pub fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Option<Response> {
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: cdn.example.com\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let kept = self.connection.is_some();
        self.exchange(&request).or_else(|| if kept { self.exchange(&request) } else { None })
    }

    fn exchange(&mut self, request: &str) -> Option<Response> {
        let mut connection = self.connection.take().or_else(|| self.connect())?;
        connection.get_mut().write_all(request.as_bytes()).ok()?;
        let response = read_response(&mut connection)?;
        if response.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Some(response)
    }

    fn connect(&self) -> Option<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.server, Duration::from_secs(5)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Some(BufReader::new(stream))
    }
}

/// Reads one response whose length the server tells.
pub fn read_response(connection: &mut BufReader<impl Read>) -> Option<Response> {
    let status = line(connection)?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        let line = line(connection)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    connection.read_exact(&mut body).ok()?;
    Some(Response { status, headers, body })
}

fn line(connection: &mut BufReader<impl Read>) -> Option<String> {
    let mut line = String::new();
    match connection.read_line(&mut line) {
        Ok(read) if read > 0 => Some(line.trim_end().to_owned()),
        _ => None,
    }
}
