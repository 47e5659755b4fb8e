//! The problem as the solver takes it, and its answer taken back.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolution, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use super::problem::{Model, Plan, PlanError, Problem};

/// Flows below this share of their source's traffic are the solver's rounding.
const TRACE: f64 = 1e-7;
/// How strongly a node's place decides between plans that cost the same, of the largest
/// price of a unit.
const TIE: f64 = 1e-7;
/// A node with so many times the room of all traffic is hardly more loaded by any of it: its
/// queue is taken as a line, for numbers that far apart are none that a solver can hold.
const VAST: f64 = 1e3;

/// Where variables and rows stand.
struct Layout<'p> {
    problem: &'p Problem,
    /// Links that may carry something, by their place in the problem.
    links: Vec<usize>,
    /// Nodes that may, likewise.
    nodes: Vec<usize>,
    /// The queues that bend: nodes, or links where each flow has its own, by their place above.
    queues: Vec<usize>,
    /// The unit of traffic within the program, so that its numbers are about one.
    unit: f64,
}

/// A program `min q'x, Ax + s = b, s in cones`, row by row.
#[derive(Default)]
struct Program {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    fn row(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, b: f64) {
        for (column, value) in terms {
            self.rows.push(self.b.len());
            self.columns.push(column);
            self.values.push(value);
        }
        self.b.push(b);
    }

    fn solve(self, q: &[f64]) -> Result<DefaultSolution<f64>, PlanError> {
        let failed = |status: String| PlanError::Solver { status };
        let a = CscMatrix::new_from_triplets(self.b.len(), q.len(), self.rows, self.columns, self.values);
        let p = CscMatrix::zeros((q.len(), q.len()));
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let mut solver = DefaultSolver::new(&p, q, &a, &self.b, &self.cones, settings)
            .map_err(|error| failed(error.to_string()))?;
        solver.solve();
        Ok(solver.solution)
    }
}

/// The plan of least cost.
pub(super) fn solve(problem: &Problem) -> Result<Plan, PlanError> {
    if problem.total() <= 0.0 {
        return Ok(Plan {
            objective: 0.0,
            flows: vec![0.0; problem.links.len()],
            prices: vec![0.0; problem.nodes.len()],
            source_prices: vec![0.0; problem.surplus.len()],
            iterations: 0,
            solver_seconds: 0.0,
        });
    }
    let layout = Layout::of(problem);
    if layout.links.is_empty() {
        return Err(PlanError::Infeasible { by: problem.total(), sources: problem.surplus.clone() });
    }
    let (q, scale) = layout.prices_of_units();
    let solution = layout.program().solve(&q)?;
    match solution.status {
        SolverStatus::Solved | SolverStatus::AlmostSolved => Ok(layout.plan(&solution, scale)),
        status => Err(layout.shortage(status)),
    }
}

impl<'p> Layout<'p> {
    fn of(problem: &'p Problem) -> Self {
        let open = |place: &usize| problem.nodes.get(*place).is_some_and(|node| problem.room(node) > 0.0);
        let nodes: Vec<usize> = (0..problem.nodes.len()).filter(open).collect();
        let wanted = |source: usize| problem.surplus.get(source).is_some_and(|surplus| *surplus > 0.0);
        let used =
            |(place, link): (usize, &super::Link)| (wanted(link.source) && open(&link.node)).then_some(place);
        let links = problem.links.iter().enumerate().filter_map(used).collect();
        let mut layout = Self { problem, links, nodes, queues: Vec::new(), unit: problem.total() };
        let bent = |node: Option<super::Node>| node.is_some_and(|node| !is_vast(problem, &node));
        let nodes = (0..layout.nodes.len()).filter(|at| bent(layout.node(*at)));
        let capacities = nodes.clone().filter_map(|at| layout.node(at)).map(|node| node.capacity);
        let unit = capacities.reduce(f64::max).unwrap_or(layout.unit);
        let queues = match problem.model {
            _ if problem.weighing.queue <= 0.0 => Vec::new(),
            Model::Aggregate => nodes.collect(),
            Model::PerFlow => {
                let node = |at: &usize| problem.nodes.get(layout.link(*at)?.node).copied();
                (0..layout.links.len()).filter(|at| bent(node(at))).collect()
            }
        };
        (layout.queues, layout.unit) = (queues, unit);
        layout
    }

    /// Variables: the links' flows, the nodes' loads, then one `t` for each queue.
    fn queues(&self) -> usize {
        self.queues.len()
    }

    /// The base that a node's load counts from.
    fn base(&self, node: &super::Node) -> f64 {
        if is_vast(self.problem, node) { 0.0 } else { node.base }
    }

    /// What a node's load may be.
    fn most(&self, at: usize) -> f64 {
        let Some(node) = self.node(at) else { return 0.0 };
        match is_vast(self.problem, &node) {
            true => self.problem.room(&node).min(2.0 * self.problem.total()),
            false => self.problem.weighing.bound * node.capacity,
        }
    }

    /// What one unit more costs in a queue that is a line.
    fn slope(&self, node: &super::Node) -> f64 {
        let free = node.capacity - node.base;
        match (is_vast(self.problem, node), self.problem.model) {
            (false, _) => 0.0,
            (true, Model::Aggregate) => node.capacity / (free * free),
            (true, Model::PerFlow) => 1.0 / free,
        }
    }

    fn link(&self, at: usize) -> Option<super::Link> {
        self.links.get(at).and_then(|place| self.problem.links.get(*place)).copied()
    }

    fn node(&self, at: usize) -> Option<super::Node> {
        self.nodes.get(at).and_then(|place| self.problem.nodes.get(*place)).copied()
    }

    fn column_of(&self, node: usize) -> Option<usize> {
        Some(self.links.len() + self.nodes.binary_search(&node).ok()?)
    }

    /// The linear objective, over its largest number; and that number.
    fn prices_of_units(&self) -> (Vec<f64>, f64) {
        let weighing = self.problem.weighing;
        let flow = |at: usize| {
            let Some(link) = self.link(at) else { return 0.0 };
            let Some(node) = self.problem.nodes.get(link.node) else { return 0.0 };
            let queue = weighing.queue * self.slope(node);
            (weighing.delay * link.delay + weighing.cost * node.cost + queue) * self.unit
        };
        let mut q: Vec<f64> = (0..self.links.len()).map(flow).collect();
        q.resize(self.links.len() + self.nodes.len(), 0.0);
        q.resize(q.len() + self.queues(), weighing.queue);
        let largest = q.iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        q.iter_mut().for_each(|price| *price /= scale);
        if self.queues() == 0 {
            // A linear program has many optima: the first nodes are preferred.
            let count = self.problem.nodes.len().max(1) as f64;
            for (at, price) in q.iter_mut().enumerate().take(self.links.len()) {
                *price += self.link(at).map_or(0.0, |link| TIE * link.node as f64 / count);
            }
        }
        (q, scale)
    }

    fn program(&self) -> Program {
        let mut program = Program::default();
        self.balances(&mut program);
        for column in 0..self.links.len() {
            program.row([(column, -1.0)], 0.0);
        }
        for at in 0..self.nodes.len() {
            program.row([(self.links.len() + at, 1.0)], self.most(at) / self.unit);
        }
        program.cones.push(SupportedConeT::NonnegativeConeT(self.links.len() + self.nodes.len()));
        for (at, of) in self.queues.iter().enumerate() {
            self.queue(at, *of, &mut program);
        }
        program
    }

    /// All of a source is placed; a node's load is its base and its flows.
    fn balances(&self, program: &mut Program) {
        let (sources, nodes) = (self.problem.surplus.len(), self.nodes.len());
        let mut of_source = vec![Vec::new(); sources];
        let mut of_node = vec![Vec::new(); nodes];
        for at in 0..self.links.len() {
            let Some(link) = self.link(at) else { continue };
            if let Some(terms) = of_source.get_mut(link.source) {
                terms.push((at, 1.0));
            }
            let column = self.column_of(link.node).map(|column| column - self.links.len());
            if let Some(terms) = column.and_then(|column| of_node.get_mut(column)) {
                terms.push((at, 1.0));
            }
        }
        for (terms, surplus) in of_source.into_iter().zip(&self.problem.surplus) {
            program.row(terms, surplus / self.unit);
        }
        for (at, mut terms) in of_node.into_iter().enumerate() {
            terms.push((self.links.len() + at, -1.0));
            program.row(terms, -self.node(at).map_or(0.0, |node| self.base(&node)) / self.unit);
        }
        program.cones.push(SupportedConeT::ZeroConeT(sources + nodes));
    }

    /// `t (C - s) >= C` as `|(2 sqrt C, t - (C - s))| <= t + (C - s)`.
    fn queue(&self, at: usize, of: usize, program: &mut Program) {
        let t = self.links.len() + self.nodes.len() + at;
        let (load, capacity) = match self.problem.model {
            Model::Aggregate => (self.links.len() + of, self.node(of).map_or(0.0, |n| n.capacity)),
            Model::PerFlow => {
                let node = self.link(of).and_then(|link| self.problem.nodes.get(link.node));
                (of, node.map_or(0.0, |node| node.capacity - node.base))
            }
        };
        let capacity = capacity / self.unit;
        program.row([(load, 1.0), (t, -1.0)], capacity);
        program.row([], 2.0 * capacity.sqrt());
        program.row([(load, -1.0), (t, -1.0)], -capacity);
        program.cones.push(SupportedConeT::SecondOrderConeT(3));
    }

    fn plan(&self, solution: &DefaultSolution<f64>, scale: f64) -> Plan {
        let problem = self.problem;
        let mut flows = vec![0.0; problem.links.len()];
        for (place, flow) in self.links.iter().zip(&solution.x) {
            if let Some(value) = flows.get_mut(*place) {
                *value = (flow * self.unit).max(0.0);
            }
        }
        clean(problem, &mut flows);
        // The program counts traffic in units, and its objective by its largest number.
        let price = |dual: f64| dual * scale / self.unit;
        let sources = problem.surplus.len();
        let caps = sources + self.nodes.len() + self.links.len();
        let mut prices = vec![0.0; problem.nodes.len()];
        for (place, dual) in self.nodes.iter().zip(solution.z.iter().skip(caps)) {
            if let Some(value) = prices.get_mut(*place) {
                *value = price(*dual).max(0.0);
            }
        }
        let source_prices = solution.z.iter().take(sources).map(|dual| price(-dual)).collect();
        Plan {
            objective: problem.cost(&flows),
            flows,
            prices,
            source_prices,
            iterations: solution.iterations,
            solver_seconds: solution.solve_time,
        }
    }

    /// Why the solver found nothing: what does not fit, if that is why. A linear program in
    /// which each source may also leave traffic unplaced, as little as can be.
    fn shortage(&self, status: SolverStatus) -> PlanError {
        let sources = self.problem.surplus.len();
        let mut program = Program::default();
        self.balances(&mut program);
        let flows = self.links.len() + self.nodes.len();
        for source in 0..sources {
            program.rows.push(source);
            program.columns.push(flows + source);
            program.values.push(1.0);
        }
        for column in (0..self.links.len()).chain(flows..flows + sources) {
            program.row([(column, -1.0)], 0.0);
        }
        for at in 0..self.nodes.len() {
            program.row([(self.links.len() + at, 1.0)], self.most(at) / self.unit);
        }
        program.cones.push(SupportedConeT::NonnegativeConeT(flows + sources));
        let mut q = vec![0.0; flows];
        q.resize(flows + sources, 1.0);
        let failed = PlanError::Solver { status: format!("{status:?}") };
        let Ok(solution) = program.solve(&q) else { return failed };
        let left: Vec<f64> = solution.x.iter().skip(flows).map(|left| (left * self.unit).max(0.0)).collect();
        let by: f64 = left.iter().sum();
        let found = matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
        if found && by > TRACE * self.problem.total() {
            return PlanError::Infeasible { by, sources: left };
        }
        failed
    }
}

/// Whether a node has far more room than there is traffic.
fn is_vast(problem: &Problem, node: &super::Node) -> bool {
    problem.room(node) > VAST * problem.total()
}

/// Takes out what is the solver's rounding, and gives each source exactly its traffic.
fn clean(problem: &Problem, flows: &mut [f64]) {
    let mut sums = vec![0.0; problem.surplus.len()];
    for (link, flow) in problem.links.iter().zip(flows.iter_mut()) {
        let surplus = problem.surplus.get(link.source).copied().unwrap_or(0.0);
        if *flow < TRACE * surplus {
            *flow = 0.0;
        }
        if let Some(sum) = sums.get_mut(link.source) {
            *sum += *flow;
        }
    }
    for (link, flow) in problem.links.iter().zip(flows.iter_mut()) {
        let surplus = problem.surplus.get(link.source).copied().unwrap_or(0.0);
        match sums.get(link.source) {
            Some(sum) if *sum > 0.0 => *flow *= surplus / sum,
            _ => {}
        }
    }
}
