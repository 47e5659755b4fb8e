//! How long a plan takes beside the solver's own time for the same program. Run it with
//! `cargo bench --bench plan`.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::Instant;

use poolsync::steer::plan::{Link, Model, Node, Problem, Weighing};

/// A generator that gives the same problem everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn problem(sources: usize, nodes: usize, candidates: usize, model: Model) -> Problem {
    let mut numbers = Numbers(1);
    let surplus: Vec<f64> = (0..sources).map(|_| 1.0 + 9.0 * numbers.next()).collect();
    // Two thirds of the bound are in use.
    let mean = surplus.iter().sum::<f64>() / nodes as f64 / 0.8 * 1.5;
    let nodes_: Vec<Node> = (0..nodes).map(|_| Node::of(mean * (0.6 + 0.8 * numbers.next()))).collect();
    let mut links = Vec::new();
    for source in 0..sources {
        let mut near: Vec<(f64, usize)> = (0..nodes).map(|node| (numbers.next(), node)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        links.extend(near.into_iter().take(candidates).map(|(delay, node)| Link { source, node, delay }));
    }
    Problem::new(model, Weighing::default(), surplus, nodes_, links).unwrap()
}

fn main() {
    for (sources, nodes, model) in [
        (50, 20, Model::Aggregate),
        (1000, 60, Model::Aggregate),
        (1000, 60, Model::PerFlow),
        (5000, 200, Model::Aggregate),
    ] {
        let problem = problem(sources, nodes, 6, model);
        let mut best = (f64::INFINITY, 0.0, 0);
        for _ in 0..5 {
            let start = Instant::now();
            let plan = problem.solve().unwrap();
            let rounded = problem.round(&plan);
            let whole = start.elapsed().as_secs_f64();
            assert!(rounded.objective.is_finite());
            if whole < best.0 {
                best = (whole, plan.solver_seconds, plan.iterations);
            }
        }
        let (whole, solver, iterations) = best;
        println!(
            "{sources} x {nodes} {model:?}: {:.1} ms, of it the solver {:.1} ms ({iterations} iterations), ratio {:.2}",
            whole * 1e3,
            solver * 1e3,
            whole / solver
        );
        assert!(whole <= 2.0 * solver, "the plan takes more than twice the solver's own time");
    }
}
