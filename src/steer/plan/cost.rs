//! What flows cost.

use super::problem::{Model, Problem};

impl Problem {
    /// The objective of flows by link, under the problem's own model. Infinite where a node
    /// is given as much as it can carry, or more.
    pub fn cost(&self, flows: &[f64]) -> f64 {
        let total = self.total();
        if total <= 0.0 {
            return 0.0;
        }
        let queue = match self.model {
            Model::Aggregate => self.shared_queues(flows),
            Model::PerFlow => self.single_queues(flows),
        };
        let mut sum = self.weighing.delay * self.travel(flows) + self.weighing.cost * self.rent(flows);
        // Without a weight, a queue without end costs nothing.
        if self.weighing.queue > 0.0 {
            sum += self.weighing.queue * queue;
        }
        sum / total
    }

    /// The mean delay on the way, by unit of traffic.
    pub fn mean_delay(&self, flows: &[f64]) -> f64 {
        if self.total() > 0.0 { self.travel(flows) / self.total() } else { 0.0 }
    }

    /// The most that a node is given over its bound.
    pub fn overload(&self, flows: &[f64]) -> f64 {
        let loads = self.node_loads(flows);
        self.nodes.iter().zip(loads).map(|(node, load)| load - self.room(node)).fold(0.0, f64::max)
    }

    fn travel(&self, flows: &[f64]) -> f64 {
        self.links.iter().zip(flows).map(|(link, flow)| link.delay * flow).sum()
    }

    fn rent(&self, flows: &[f64]) -> f64 {
        self.node_loads(flows).iter().zip(&self.nodes).map(|(load, node)| load * node.cost).sum()
    }

    fn shared_queues(&self, flows: &[f64]) -> f64 {
        let loads = self.node_loads(flows);
        let queue = |(node, load): (&super::Node, f64)| waiting(load + node.base, node.capacity);
        self.nodes.iter().zip(loads).map(queue).sum()
    }

    fn single_queues(&self, flows: &[f64]) -> f64 {
        let queue = |(link, flow): (&super::Link, &f64)| {
            self.nodes.get(link.node).map_or(0.0, |node| waiting(*flow, node.capacity - node.base))
        };
        self.links.iter().zip(flows).map(queue).sum()
    }
}

/// The mean number in an M/M/1 system.
fn waiting(load: f64, capacity: f64) -> f64 {
    if load <= 0.0 {
        0.0
    } else if load < capacity {
        load / (capacity - load)
    } else {
        f64::INFINITY
    }
}
