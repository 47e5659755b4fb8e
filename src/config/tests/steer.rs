//! What a configuration says of steering: regions, distances, loads, policies.

use super::*;

const STEERED: &str = r#"
[snmp.v2]
version = "2c"
community = { env = "COMMUNITY" }
[edge.e1]
host = "e1.example.net"
region = "south"
place = [0, 0]
weight = 3
[edge.e1.load]
source = "json"
url = "http://192.0.2.1/load?x=1"
load = "/load"
capacity = 1_000.5
[edge.e2]
host = "e2.example.net"
place = [0.0, 90.0]
cost = 2
[edge.e2.load]
source = "snmp"
address = "192.0.2.2"
snmp = "v2"
interfaces = [3, 4]
direction = "in"
[bas.x]
address = "192.0.2.9"
snmp = "v2"
edges = ["e1", "e2"]
region = "north"
place = [0, 0]
distance = { e1 = 7 }
demand = 50
[bas.y1]
address = "192.0.2.10"
snmp = "v2"
edges = ["e1", "e2"]
pair = "y"
[bas.y2]
address = "192.0.2.11"
snmp = "v2"
edges = ["e1", "e2"]
pair = "y"
[[static]]
range = "203.0.113.0/24"
edges = ["e2", "e1"]
"#;

fn steered(extra: &str) -> Loaded {
    let folder = Folder::new();
    folder.write("far.csv", "bas,e1,e2\nx,1,2\ny2,,5\ny,3,4\n");
    let text = format!("{HEAD}{STEERED}{extra}").replacen("\n", "\ndistance-file = \"far.csv\"\n", 1);
    let loaded = folder.load(text).unwrap_or_else(|e| panic!("{e}"));
    let printed = loaded.config.to_toml();
    let again = folder.load(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again.config, loaded.config, "{printed}");
    loaded
}

#[test]
fn a_region_is_that_of_the_bas_else_of_its_first_edge() {
    let regions = steered("").config.regions();
    let regions: Vec<(&str, &str)> = regions.iter().map(|(o, r)| (o.as_str(), r.as_str())).collect();
    assert_eq!(regions, [("x", "north"), ("y", "south")], "the static line's first edge has none");
}

#[test]
fn distances_are_the_pairs_then_the_file_then_the_places() {
    let config = steered("").config;
    let all = config.distances();
    let of = |owner: &str, edge: &str| all.of(&owner.into(), &edge.into());
    assert_eq!((of("x", "e1"), of("x", "e2")), (Some(7.0), Some(2.0)));
    // y1 has no line, and its pair's goes before that of the other one.
    assert_eq!((of("y", "e1"), of("y", "e2")), (Some(3.0), Some(4.0)));
    let places = load(&format!("{HEAD}{STEERED}")).config.distances();
    // A quarter of the equator, there and back at 200 km in a ms.
    let quarter = places.of(&"x".into(), &"e2".into()).unwrap();
    assert!((quarter - 100.075).abs() < 0.01, "{quarter}");
    assert_eq!(places.of(&"y".into(), &"e2".into()), None);
}

#[test]
fn loads_and_weights_are_read() {
    let traits = steered("").config.traits;
    assert_eq!((traits["e1"].weight, traits["e2"].weight), (3, 1));
    let feed = traits["e1"].feed.as_ref().unwrap();
    assert_eq!(feed.capacity.map(crate::steer::Amount::get), Some(1000.5));
    assert!(feed.tells_load() && feed.tells_capacity() && !feed.tells_delay());
    let FeedSource::Snmp { interfaces, direction, .. } = &traits["e2"].feed.as_ref().unwrap().source else {
        panic!("{traits:?}");
    };
    assert_eq!(*interfaces, crate::load::Interfaces::Indexes(vec![3, 4]));
    assert_eq!(*direction, crate::load::Direction::In);
}

#[test]
fn policies_have_their_parameters() {
    use crate::steer::{Policy, plan::Model, shed::Mode};
    let config = steered(
        "[steer.south]\npolicy = \"plan\"\nmodel = \"per-flow\"\nw1 = 0.25\nbound = \"90%\"\nown-first = true\n\
         [steer.north]\npolicy = \"shed\"\nmode = \"variable\"\nthreshold = \"70ms\"\ncap = \"25%\"\n\
         receiving = { low = \"30%\" }\nsession = \"20m\"\n\
         [steer.west]\npolicy = \"nearload\"\nd = 3\nstep = \"12.5%\"\n",
    )
    .config;
    let Policy::Plan(plan) = config.steer["south"].policy else { panic!() };
    assert_eq!((plan.model, plan.own_first, plan.candidates.get()), (Model::PerFlow, true, 6));
    let weighing = plan.weighing;
    assert_eq!((weighing.queue, weighing.delay, weighing.bound), (0.25, 0.75, 0.9));
    let Policy::Shed(shed) = config.steer["north"].policy else { panic!() };
    assert_eq!((shed.mode, shed.threshold_ms, shed.cap), (Mode::Variable, 70.0, 0.25));
    assert_eq!((shed.receiving.high, shed.receiving.low), (1.0, 0.3));
    assert_eq!(config.steer["north"].session, Some(Duration::from_secs(1200)));
    let west = config.steer["west"];
    assert_eq!((west.policy.name(), west.damping.step, west.damping.min_move), ("nearload", 0.125, 0.05));
}

#[test]
fn what_steering_lacks_is_a_warning() {
    let loaded = steered(
        "[steer.soth]\npolicy = \"greedy\"\n[steer.north]\npolicy = \"shed\"\n[steer.south]\npolicy = \"greedy\"\n\
         [export.a]\nformat = \"nginx-geo\"\npath = \"a\"\ngroups = { format = \"nginx-map\", path = \"b\" }\n\
         [export.b]\nformat = \"csv\"\npath = \"c\"\n[export.c]\nformat = \"json\"\npath = \"d\"\n\
         [export.d]\nformat = \"czf-deep\"\npath = \"e\"\n",
    );
    let told: Vec<&str> = loaded.warnings.iter().map(|warning| warning.message.as_str()).collect();
    for wanted in [
        "no BAS is in this region: nothing is steered by it",
        "`shed` needs the delay, load and capacity of e1, e2, which nothing tells",
        "nginx-map carries no weights: a steered group is answered with its first edge",
        "csv names groups alone: weights and order of their edges reach nobody",
        "czf-deep carries the order of edges and no weights",
    ] {
        assert!(told.contains(&wanted), "{wanted}: {told:#?}");
    }
    assert_eq!(told.len(), 5, "{told:#?}");
}
