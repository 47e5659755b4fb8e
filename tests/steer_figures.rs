//! The figures of the README: drawn by `simulate`, and drawn again the same.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;

use support::scratch::Scratch;
use support::{poolsync, repository};

/// A small one, from the same commands with fewer requests.
#[test]
fn a_figure_is_drawn_again_as_it_was() {
    let scratch = Scratch::new();
    let path = scratch.join("figure.svg");
    let mut command = poolsync::command(["-c", "/no/such/configuration", "simulate", "--staggered"]);
    command.args([
        "--policy",
        "greedy,nearload:3",
        "--interval",
        "10,60,300",
        "--calls",
        "3000",
        "--seeds",
        "2",
    ]);
    command.arg("--svg").arg(&path);
    poolsync::run_command(command).expect(0);
    let (found, wanted) = (fs::read_to_string(&path).unwrap(), include_str!("data/steer/figure.svg"));
    assert!(found == wanted, "it is\n{found}\nand should be\n{wanted}");
    // Two policies of three points, by blocking and by path length.
    assert_eq!(wanted.matches("<circle").count(), 12);
}

#[test]
fn the_readme_shows_figures_that_are_there() {
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let mut figures = Vec::new();
    for rest in readme.split("](config/figures/").skip(1) {
        figures.push(rest.split(')').next().unwrap().to_owned());
    }
    assert_eq!(figures, ["policies.svg", "by-d.svg", "herd.svg"]);
    for figure in figures {
        let drawing = fs::read_to_string(repository("config/figures").join(&figure)).unwrap();
        assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"), "{figure}");
        assert!(readme.contains(&format!("--svg config/figures/{figure}")), "how {figure} was made");
    }
}
