//! The network that is simulated.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use thiserror::Error;

/// Nodes, which of them are gateways, and how far each is from each.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What it is called.
    pub name: String,
    /// The gateways' names.
    pub gateways: Vec<String>,
    /// The hops from each node (row) to each gateway (column).
    pub distances: Vec<Vec<f64>>,
    /// Requests per second by node; drawn by chance where none are given.
    pub arrivals: Option<Vec<f64>>,
    /// What each gateway can hold; the same for all, from the offered load, where none is given.
    pub capacities: Option<Vec<u32>>,
    /// The gateways' static weights.
    pub weights: Vec<u32>,
    /// How many links there are.
    pub links: usize,
}

/// A network as it stands in a file: JSON with `links` as pairs of names, the names of
/// `gateways`, and for those that differ from the rest `arrivals` (requests per second by
/// node), `capacity` and `weight` (by gateway).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    /// What it is called.
    #[serde(default)]
    pub name: String,
    /// The links.
    pub links: Vec<(String, String)>,
    /// The gateways, among the links' nodes.
    pub gateways: Vec<String>,
    /// Requests per second by node; a node that is not named has none.
    pub arrivals: Option<BTreeMap<String, f64>>,
    /// What gateways can hold; all of them, if any.
    pub capacity: Option<BTreeMap<String, u32>>,
    /// Static weights; 1 unless given.
    #[serde(default)]
    pub weight: BTreeMap<String, u32>,
}

/// Why a file is no network.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// It is no JSON, or not of this shape.
    #[error("the network is not of the shape that is expected: {0}")]
    Json(#[from] serde_json::Error),
    /// A name that no link has.
    #[error("`{key}` names {name}, and no link has it")]
    Unknown {
        /// The key.
        key: &'static str,
        /// The name.
        name: String,
    },
    /// A gateway twice, or none.
    #[error("`gateways` must name at least one node, and none twice")]
    Gateways,
    /// Two nodes with no way between them.
    #[error("there is no way from {node} to the gateway {gateway}")]
    Apart {
        /// The node.
        node: String,
        /// The gateway.
        gateway: String,
    },
    /// Rates that make no traffic, or are none.
    #[error("`arrivals` must be numbers that are not negative, and not all nought")]
    Arrivals,
    /// A gateway without a capacity where others have one.
    #[error("`capacity` lacks {0}")]
    Capacity(String),
    /// All weights are nought.
    #[error("all weights are nought")]
    Weights,
}

impl Network {
    /// 84 nodes in rings of rings: a ring of 4, on each of its nodes a ring of 4 more, and on
    /// each of those 16 another of 4. The first 20 nodes are the gateways.
    pub fn rings() -> Self {
        let mut links: Vec<(usize, usize)> = (0..4).map(|node| (node, (node + 1) % 4)).collect();
        // The children of node n are 4 n + 4 ... 4 n + 7, and n closes their ring.
        for parent in 0..20 {
            let first = 4 * parent + 4;
            links.extend([(parent, first), (first, first + 1), (first + 1, first + 2)]);
            links.extend([(first + 2, first + 3), (first + 3, parent)]);
        }
        let distances = hops(84, &links, &(0..20).collect::<Vec<_>>());
        Self {
            name: "84 nodes in rings".to_owned(),
            gateways: (0..20).map(|node| format!("n{node:02}")).collect(),
            distances: distances
                .into_iter()
                .map(|row| row.into_iter().map(|d| d.unwrap_or(0.0)).collect())
                .collect(),
            arrivals: None,
            capacities: None,
            weights: vec![1; 20],
            links: links.len(),
        }
    }

    /// The network of a JSON text.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(json: &str) -> Result<Self, NetworkError> {
        Self::of_file(serde_json::from_str(json)?)
    }

    fn of_file(file: NetworkFile) -> Result<Self, NetworkError> {
        let mut nodes: Vec<&str> = file.links.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |key, name: &str| {
            let unknown = || NetworkError::Unknown { key, name: name.to_owned() };
            nodes.binary_search(&name).map_err(|_| unknown())
        };
        let mut links = Vec::new();
        for (a, b) in &file.links {
            links.push((place("links", a)?, place("links", b)?));
        }
        let gateways: Vec<usize> =
            file.gateways.iter().map(|name| place("gateways", name)).collect::<Result<_, _>>()?;
        let mut distinct = gateways.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if gateways.is_empty() || distinct.len() != gateways.len() {
            return Err(NetworkError::Gateways);
        }
        let arrivals = file.arrivals.as_ref().map(|given| arrivals(given, &nodes)).transpose()?;
        for name in file.capacity.iter().flat_map(BTreeMap::keys) {
            known("capacity", name, &file.gateways)?;
        }
        for name in file.weight.keys() {
            known("weight", name, &file.gateways)?;
        }
        let weights: Vec<u32> =
            file.gateways.iter().map(|name| file.weight.get(name).copied().unwrap_or(1)).collect();
        if weights.iter().all(|weight| *weight == 0) {
            return Err(NetworkError::Weights);
        }
        let capacity = |given: &BTreeMap<String, u32>| {
            let of =
                |name: &String| given.get(name).copied().ok_or_else(|| NetworkError::Capacity(name.clone()));
            file.gateways.iter().map(of).collect::<Result<Vec<u32>, _>>()
        };
        Ok(Self {
            distances: reached(hops(nodes.len(), &links, &gateways), &nodes, &file.gateways)?,
            arrivals,
            capacities: file.capacity.as_ref().map(capacity).transpose()?,
            weights,
            links: links.len(),
            name: file.name,
            gateways: file.gateways,
        })
    }

    /// The mean number of hops to all gateways, and to the nearest.
    pub fn mean_hops(&self) -> (f64, f64) {
        let count = self.distances.len().max(1) as f64;
        let mean = |row: &Vec<f64>| row.iter().sum::<f64>() / row.len().max(1) as f64;
        let nearest = |row: &Vec<f64>| row.iter().copied().fold(f64::INFINITY, f64::min);
        let all = self.distances.iter().map(mean).sum::<f64>() / count;
        (all, self.distances.iter().map(nearest).sum::<f64>() / count)
    }
}

fn known(key: &'static str, name: &str, gateways: &[String]) -> Result<(), NetworkError> {
    match gateways.iter().any(|gateway| gateway == name) {
        true => Ok(()),
        false => Err(NetworkError::Unknown { key, name: name.to_owned() }),
    }
}

fn arrivals(given: &BTreeMap<String, f64>, nodes: &[&str]) -> Result<Vec<f64>, NetworkError> {
    let mut rates = vec![0.0; nodes.len()];
    for (name, rate) in given {
        let unknown = NetworkError::Unknown { key: "arrivals", name: name.clone() };
        let place = nodes.binary_search(&name.as_str()).ok().and_then(|place| rates.get_mut(place));
        *place.ok_or(unknown)? = *rate;
    }
    let legal = rates.iter().all(|rate: &f64| rate.is_finite() && *rate >= 0.0);
    if legal && rates.iter().sum::<f64>() > 0.0 { Ok(rates) } else { Err(NetworkError::Arrivals) }
}

fn reached(
    hops: Vec<Vec<Option<f64>>>,
    nodes: &[&str],
    gateways: &[String],
) -> Result<Vec<Vec<f64>>, NetworkError> {
    let row = |(row, node): (Vec<Option<f64>>, &&str)| {
        let apart =
            |gateway: &String| NetworkError::Apart { node: (*node).to_owned(), gateway: gateway.clone() };
        row.into_iter().zip(gateways).map(|(hops, gateway)| hops.ok_or_else(|| apart(gateway))).collect()
    };
    hops.into_iter().zip(nodes).map(row).collect()
}

/// The hops from each node to each gateway, breadth first from the gateways.
fn hops(nodes: usize, links: &[(usize, usize)], gateways: &[usize]) -> Vec<Vec<Option<f64>>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for (a, b) in links {
        for (from, to) in [(*a, *b), (*b, *a)] {
            if let Some(list) = neighbours.get_mut(from) {
                list.push(to);
            }
        }
    }
    let columns: Vec<Vec<Option<f64>>> = gateways.iter().map(|gateway| from(*gateway, &neighbours)).collect();
    (0..nodes)
        .map(|node| columns.iter().map(|column| column.get(node).copied().flatten()).collect())
        .collect()
}

fn from(start: usize, neighbours: &[Vec<usize>]) -> Vec<Option<f64>> {
    let mut hops = vec![None; neighbours.len()];
    let mut queue = VecDeque::from([(start, 0.0)]);
    while let Some((node, distance)) = queue.pop_front() {
        match hops.get_mut(node) {
            Some(place @ None) => *place = Some(distance),
            _ => continue,
        }
        queue.extend(neighbours.get(node).into_iter().flatten().map(|next| (*next, distance + 1.0)));
    }
    hops
}
