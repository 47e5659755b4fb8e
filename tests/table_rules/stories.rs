//! Short stories, each a property that a careful operator expects.

use poolsync::address::Family;
use poolsync::table::*;

use crate::world::*;

const TEN: [(&str, u32); 10] = [
    ("A", 40),
    ("B", 40),
    ("C", 40),
    ("D", 40),
    ("E", 40),
    ("F", 40),
    ("G", 40),
    ("H", 40),
    ("I", 40),
    ("J", 40),
];

struct Start<'a> {
    sizes: &'a [(&'a str, u32)],
    size: u32,
    settings: Settings,
    ground: Ground,
    pairs: &'a [(&'a str, &'a str)],
}

fn start(sizes: &'static [(&str, u32)]) -> Start<'static> {
    let size = sizes.iter().map(|(_, k)| k).sum();
    Start { sizes, size, settings: Settings::default(), ground: Ground::default(), pairs: &[] }
}

impl Start<'_> {
    /// Routers with four touching pools each, polled for 20 minutes.
    fn world(self) -> World {
        let mut w = World::new(self.settings, self.size);
        w.ground = self.ground;
        let mut x = 0;
        for (name, k) in self.sizes {
            let pair = self.pairs.iter().find(|(member, _)| member == name).map(|(_, pair)| *pair);
            w.add_bas(name, pair);
            for j in 0..4 {
                w.lists(name, &format!("p{j}"), x + j * k / 4, x + (j + 1) * k / 4 - 1);
            }
            x += k;
        }
        w.step(20);
        assert!(w.filled);
        assert_eq!(w.held(), []);
        w
    }
}

fn ten() -> World {
    start(&TEN).world()
}

/// The place where a router of [`TEN`] begins.
fn begin(name: &str) -> u32 {
    40 * TEN.iter().position(|(n, _)| *n == name).unwrap() as u32
}

#[test]
fn a_failed_poll_keeps_the_owner() {
    let mut w = ten();
    w.lists("B", "dup", 0, 9);
    w.step(10);
    w.router("A").reachable = false;
    w.step(5);
    assert_eq!(w.own(0), Some("A"));
    w.router("A").reachable = true;
    w.step(10);
    assert_eq!(w.own(0), Some("A"));
}

#[test]
fn an_unreadable_cell_keeps_the_owner() {
    let mut w = ten();
    w.lists("B", "dup", 0, 9);
    w.step(10);
    w.router("A").bad_rows.insert("p0".into());
    w.step(5);
    assert_eq!(w.own(0), Some("A"));
    w.router("A").bad_rows.clear();
    w.step(10);
    assert_eq!(w.own(0), Some("A"));
}

#[test]
fn a_reboot_keeps_the_owner() {
    let mut w = ten();
    w.lists("B", "dup", 30, 39);
    w.step(10);
    w.reboot("A", 6);
    w.step(20);
    assert_eq!(w.own(30), Some("A"));
}

#[test]
fn slices_below_ignore_add_up() {
    let guard = GuardSettings { ignore_below: 5, ..GuardSettings::default() };
    let mut w = Start { settings: Settings { guard, ..Settings::default() }, ..start(&TEN) }.world();
    for last in (3..=35).rev().step_by(4) {
        w.lists_only("A", 0, last);
        w.step(10);
    }
    assert!(w.covered(Some("A")) >= 20, "at most half goes unasked");
}

#[test]
fn an_approval_does_not_refill_the_budget() {
    let mut w = ten();
    for name in ["A", "B"] {
        w.lists_only(name, begin(name), begin(name) + 21); // 2 x 18 = 36 of 400
    }
    w.step(10);
    w.unlists("J", &["p0", "p1", "p2"]);
    w.step(10);
    w.approve_all(); // J: 30
    for name in ["C", "D"] {
        w.lists_only(name, begin(name), begin(name) + 21);
    }
    w.step(30);
    assert!(w.covered(None) >= 400 - 30 - 40, "{}", w.covered(None));
}

#[test]
fn gains_do_not_pay_for_losses() {
    let mut w = Start { size: 640, ..start(&TEN) }.world();
    w.lists("A", "new", 400, 470);
    w.step(6);
    w.lists("B", "new", 480, 560);
    for name in ["C", "D", "E", "F", "G", "H", "I", "J"] {
        w.unlists(name, &["p0", "p1"]);
    }
    w.step(10);
    let lost = (0..400).filter(|place| w.own(*place).is_none()).count();
    assert!(lost <= 48, "{lost}");
    assert!(w.held().iter().any(|hold| hold.reason == HoldReason::Incident));
}

const MOVER: [(&str, u32); 10] = [
    ("A", 40),
    ("B", 8),
    ("C", 40),
    ("D", 40),
    ("E", 40),
    ("F", 40),
    ("G", 40),
    ("H", 40),
    ("I", 40),
    ("J", 40),
];

#[test]
fn a_move_passes_when_the_old_router_is_polled_first() {
    let mut w = start(&MOVER).world();
    w.unlists("A", &["p0", "p1"]);
    w.poll_one("A", true);
    w.cycle();
    assert_eq!(w.own(0), None, "half is not more than half");
    w.lists("B", "q", 0, 19);
    w.step(6);
    assert_eq!(w.own(0), Some("B"));
    assert_eq!(w.held(), []);
}

#[test]
fn a_move_passes_when_the_new_router_is_polled_first() {
    let mut w = start(&MOVER).world();
    w.lists("B", "q", 0, 19);
    w.poll_one("B", true);
    w.cycle();
    assert_eq!(w.own(0), Some("A"));
    w.unlists("A", &["p0", "p1"]);
    w.step(6);
    assert_eq!(w.own(0), Some("B"));
    assert_eq!(w.held(), []);
}

#[test]
fn a_replacement_enters_when_the_old_router_is_stale() {
    let mut w = ten();
    w.router("A").alive = false;
    w.step(5);
    w.add_bas("AX", None);
    w.router("AX").pools = w.routers["A"].pools.clone();
    w.step(20);
    assert_eq!(w.own(0), Some("A"), "not before it is stale");
    w.step(30);
    assert_eq!(w.own(0), Some("AX"));
    assert_eq!(w.held(), []);
}

#[test]
fn a_new_router_with_a_new_pool_enters_at_once() {
    let mut w = Start { size: 440, ..start(&TEN) }.world();
    w.add_bas("K", None);
    w.lists("K", "p", 400, 419);
    w.step(10);
    assert_eq!(w.own(400), Some("K"));
}

#[test]
fn a_private_pool_of_a_dead_router_is_not_nobodys_for_ever() {
    // Places 0..=39 are 10.255.255.216 to 10.255.255.255; behind them is public space.
    let ground = Ground { v4: 0x0b00_0000 - 40, ..Ground::default() };
    let mut w = Start { ground, ..start(&TEN) }.world();
    w.router("A").alive = false;
    w.step(60);
    w.add_bas("AX", None);
    w.router("AX").pools = w.routers["A"].pools.clone();
    w.step(700);
    assert_eq!(w.own(0), Some("AX"));
}

#[test]
fn a_release_does_not_ask_again_what_was_approved() {
    let mut w = ten();
    let generation = w.generations.len() - 1;
    w.router("A").pools.clear();
    w.step(10);
    w.approve_all();
    assert_eq!(w.own(0), None);
    w.step(1500);
    w.rollback(generation);
    w.step(60);
    assert_eq!(w.own(0), Some("A"), "pinned");
    w.release();
    w.step(20);
    assert_eq!(w.own(0), None);
    assert_eq!(w.held(), []);
}

#[test]
fn an_incident_stays_held() {
    let mut w = ten();
    for name in ["A", "B", "C", "D", "E"] {
        w.unlists(name, &["p0"]);
    }
    for name in ["A", "B", "C", "D", "E"] {
        w.poll_one(name, true);
    }
    w.cycle();
    assert_eq!(w.held().len(), 5);
    let incidents: Vec<_> = w.held().iter().map(|hold| (hold.reason, hold.incident, hold.units())).collect();
    assert_eq!(incidents, [(HoldReason::Incident, Some(1), 10); 5]);
    w.step(10);
    assert_eq!(w.covered(None), 400, "polled one by one, nothing leaks");
    w.step(100);
    assert_eq!(w.covered(None), 400, "polls do not confirm an incident");
    let approved = w.guard.approve(&Selection::Incident(1)).unwrap();
    assert_eq!(approved.ids().len(), 5);
    w.approve_all();
    assert_eq!(w.covered(None), 350);
    assert_eq!(w.held(), []);
}

#[test]
fn a_hold_blocks_nobody_else() {
    let mut w = ten();
    w.router("A").pools.clear();
    w.step(10);
    w.router("B").pools.insert("p0".into(), vec![(Family::V4, 40, 43)]); // 6 of 40
    w.step(10);
    assert_eq!(w.own(47), None);
    assert_eq!(w.own(0), Some("A"));
    assert_eq!(w.held()[0].reason, HoldReason::Emptied);
}

#[test]
fn confirming_polls_do_not_erode_the_table() {
    let mut w = ten();
    for name in ["A", "B", "C", "D", "E", "F", "G", "H"] {
        w.lists_only(name, begin(name), begin(name) + 15);
        w.step(90);
    }
    assert!(w.covered(None) >= 360, "{}", w.covered(None));
}

#[test]
fn confirming_polls_approve_a_partial_loss() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(50);
    assert_eq!(w.covered(Some("A")), 40);
    assert_eq!(w.held()[0].reason, HoldReason::RemoveBas);
    assert_eq!(w.held()[0].units(), 24);
    w.step(15);
    assert_eq!(w.covered(Some("A")), 16);
    assert_eq!(w.held(), []);
}

#[test]
fn a_rejected_hold_is_not_confirmed_by_polls() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(10);
    let id = w.held()[0].id;
    w.guard.reject(&Selection::Id { id, digest: None }).unwrap();
    w.step(600);
    assert_eq!(w.covered(Some("A")), 40);
    w.approve(id);
    assert_eq!(w.covered(Some("A")), 16);
}

#[test]
fn forced_polls_confirm_nothing() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    for _ in 0..30 {
        w.now += 5;
        w.poll_one("A", false);
        w.cycle();
    }
    assert_eq!(w.covered(Some("A")), 40);
}

#[test]
fn an_isolated_poller_takes_over_nothing() {
    let mut w = ten();
    w.lists("J", "dup", 0, 9);
    w.step(10);
    for name in ["A", "B", "C", "D", "E"] {
        w.router(name).reachable = false;
    }
    w.step(480);
    assert_eq!(w.own(0), Some("A"));
    let stale = w.claimed().stale;
    assert_eq!(stale.len(), 5);
    assert!(stale.iter().all(|s| s.poller_isolated && !s.taken_over));
}

#[test]
fn a_pair_does_not_churn() {
    let pairs = [("A", "P"), ("B", "P")];
    let mut w = Start { pairs: &pairs, ..start(&TEN) }.world();
    w.router("B").pools = w.routers["A"].pools.clone();
    w.step(20);
    w.approve_all();
    let before = w.generations.len();
    for _ in 0..30 {
        w.router("A").reachable = false;
        w.step(46);
        w.router("A").reachable = true;
        w.step(4);
    }
    assert!(w.generations.len() - before <= 2);
}

#[test]
fn a_flapping_router_does_not_churn() {
    let mut w = ten();
    w.lists("B", "dup", 0, 9);
    w.step(20);
    let before = w.generations.len();
    for i in 0..60 {
        w.router("A").reachable = i % 2 == 1;
        w.step(8);
    }
    assert_eq!(w.generations.len(), before);
}

#[test]
fn a_flapping_pool_is_damped() {
    let mut w = ten();
    let before = w.generations.len();
    let pool = w.routers["A"].pools["p3"].clone();
    for i in 0..96 {
        if i % 2 == 1 {
            w.unlists("A", &["p3"]);
        } else {
            w.router("A").pools.insert("p3".into(), pool.clone());
        }
        w.step(5);
    }
    // Two generations in as much time as it takes to confirm: 12 polls, 5 minutes each.
    assert!(w.generations.len() - before <= 2 + 2 * 480 / 60, "{}", w.generations.len() - before);
    assert_eq!(w.held()[0].reason, HoldReason::Flapping);
}

#[test]
fn families_are_judged_apart() {
    let mut w = World::new(Settings::default(), 64);
    for (i, name) in ["A", "B", "C", "D"].iter().enumerate() {
        let i = i as u32;
        w.add_bas(name, None);
        w.lists(name, "p", 4 * i, 4 * i + 1);
        w.lists_in(Family::V6, name, "six", 16 * i, 16 * i + 15);
    }
    w.step(20);
    w.unlists("A", &["p"]);
    w.step(200);
    assert_eq!(w.own(0), Some("A"));
    assert_eq!(w.held().len(), 1);
    assert_eq!((w.held()[0].family, w.held()[0].reason), (Family::V4, HoldReason::Emptied));
}

#[test]
fn swapped_addresses_are_held() {
    let mut w = ten();
    for (a, b) in [("A", "B"), ("C", "D")] {
        let (first, second) = (w.routers[a].clone(), w.routers[b].clone());
        *w.router(a) = second;
        *w.router(b) = first;
    }
    for name in ["A", "B", "C", "D"] {
        w.poll_one(name, true);
    }
    w.cycle();
    w.step(30);
    assert_eq!(w.own(0), Some("A"));
    assert!(w.held().iter().any(|hold| hold.kind == HoldKind::Move));
    w.approve_all();
    w.step(10);
    assert_eq!(w.own(0), Some("B"));
    assert_eq!(w.held(), []);
}

#[test]
fn a_moving_range_is_right_within_a_poll() {
    let mut w = ten();
    for i in 0..24 {
        let (a, b) = if i % 2 == 1 { ("A", "B") } else { ("B", "A") };
        w.unlists(b, if i == 0 { &["p0", "p1"] } else { &["z"] });
        w.lists(a, "z", 0, 19);
        w.step(11);
        assert_eq!(w.own(0), Some(a), "move {i}");
    }
    assert_eq!(w.held(), []);
}

#[test]
fn two_days_off() {
    let mut w = ten();
    w.restart(2880);
    w.unlists("A", &["p0"]);
    w.lists("B", "q", 0, 9);
    w.router("C").pools.insert("p0".into(), vec![(Family::V4, 80, 81)]);
    w.step(12);
    assert_eq!(w.own(0), Some("B"));
    assert_eq!(w.own(85), None);
    assert_eq!(w.held(), []);
}

#[test]
fn a_lost_uplink_changes_nothing() {
    let mut w = ten();
    let before = w.table().clone();
    w.uplink = false;
    w.step(1440);
    assert_eq!(diff(&before, w.table()), []);
    w.uplink = true;
    w.step(20);
    assert_eq!(diff(&before, w.table()), []);
    assert_eq!(w.held(), []);
}

#[test]
fn half_of_the_fleet_is_renumbered() {
    let guard = GuardSettings { ignore_below: 2, add: Share::percent(60), ..GuardSettings::default() };
    let settings = Settings { guard, ..Settings::default() };
    let mut w = Start { size: 640, settings, ..start(&TEN) }.world();
    for (i, name) in ["A", "B", "C", "D", "E"].iter().enumerate() {
        let first = 400 + 40 * i as u32;
        w.router(name).pools = [("n".to_owned(), vec![(Family::V4, first, first + 39)])].into();
    }
    w.step(10);
    assert_eq!((w.own(400), w.own(0)), (Some("A"), Some("A")));
    assert!(!w.held().is_empty());
    for _ in 0..3 {
        w.approve_all();
        w.step(10);
    }
    assert_eq!(w.own(0), None);
    assert_eq!(w.held(), []);
}

#[test]
fn a_truncated_inventory_is_held_and_mended() {
    let mut w = ten();
    w.drop_bas(&["A", "B", "C", "D"]);
    assert_eq!(w.covered(None), 400);
    assert_eq!(w.held().len(), 4);
    for name in ["A", "B", "C", "D"] {
        w.add_bas(name, None);
    }
    w.step(10);
    assert_eq!(w.covered(None), 400);
    assert_eq!(w.held(), []);
}

#[test]
fn many_small_moves_add_up() {
    let mut w = ten();
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    for (i, pair) in names.windows(2).enumerate() {
        let first = 40 * i as u32;
        w.unlists(pair[0], &["p0", "p1"]);
        w.lists(pair[1], &format!("m{i}"), first, first + 19);
        w.step(10);
    }
    assert!(w.held().iter().any(|hold| hold.kind == HoldKind::Move), "eight times 5 % are over 30 %");
}

#[test]
fn one_dead_router_of_three_is_not_isolated() {
    let mut w = start(&[("A", 40), ("B", 40), ("C", 40)]).world();
    w.router("A").alive = false;
    w.lists("B", "dup", 0, 9);
    w.step(20);
    w.step(360 + 60);
    assert_eq!(w.own(0), Some("B"));
}

// Holds, references and additions, closer.

#[test]
fn one_bad_poll_withdraws_nothing_and_neither_does_a_bad_fleet() {
    let mut w = World::new(Settings::default(), 1000);
    w.settings.guard.ignore_below = 2;
    let names: Vec<String> = (0..10).map(|i| format!("bas-{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        w.add_bas(name, None);
        for j in 0..100 {
            let place = 100 * i as u32 + j;
            w.lists(name, &format!("p{j:02}"), place, place);
        }
    }
    w.step(10);
    let five: Vec<_> = w.routers["bas-3"].pools.keys().skip(5).cloned().collect();
    five.iter().for_each(|pool| w.unlists("bas-3", &[pool.as_str()]));
    w.step(10);
    assert_eq!(w.covered(None), 1000);
    assert_eq!(w.held().len(), 1);
    assert_eq!(w.held()[0].units(), 95);
    names.iter().for_each(|name| w.router(name).pools.clear());
    w.step(10);
    assert_eq!(w.covered(None), 1000);
    assert_eq!(w.held().len(), 10);
    w.approve_all();
    assert_eq!(w.covered(None), 0, "a person may");

    let mut w = ten();
    w.router("A").pools.insert("p0".into(), vec![(Family::V4, 3, 9)]);
    w.step(5);
    assert_eq!(w.own(2), None, "a loss of three passes at once");
    assert_eq!(w.held(), []);
}

#[test]
fn two_routers_with_one_range_in_any_order_of_polls() {
    for order in [["A", "B"], ["B", "A"]] {
        let mut w = ten();
        for name in order {
            w.lists(name, "both", 400, 409);
            w.poll_one(name, true);
        }
        w.cycle();
        assert_eq!(w.own(400), Some("A"), "by name");
        w.restart(0);
        w.step(10);
        assert_eq!(w.own(400), Some("A"));
        w.unlists("A", &["both"]);
        w.step(5);
        assert_eq!(w.own(400), Some("B"), "A's complete poll dropped it");
        w.lists("A", "both", 400, 409);
        w.step(10);
        assert_eq!(w.own(400), Some("B"), "the owner stays");
    }
}

#[test]
fn approving_takes_only_the_approved_addresses_out_of_the_reference() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(10);
    w.approve_all();
    assert_eq!(w.covered(Some("A")), 16);
    // Of the 16 left, 8 may go; 9 may not.
    w.lists_only("A", 0, 7);
    w.step(5);
    assert_eq!(w.covered(Some("A")), 8);
    w.lists_only("A", 0, 6);
    w.step(5);
    assert_eq!(w.covered(Some("A")), 8);
    assert_eq!(w.held()[0].reason, HoldReason::RemoveBas);
}

#[test]
fn what_others_own_now_is_not_in_the_base_of_a_share() {
    let mut w = ten();
    w.unlists("A", &["p0", "p1"]);
    w.lists("B", "q", 0, 19);
    w.step(6);
    assert_eq!(w.covered(Some("A")), 20);
    w.lists_only("A", 29, 39); // 9 of the 20 left
    w.step(5);
    assert_eq!(w.covered(Some("A")), 11);
    w.lists_only("A", 31, 39); // 11 of 20 in the window
    w.step(5);
    assert_eq!(w.covered(Some("A")), 11);
    assert_eq!(w.held()[0].reason, HoldReason::RemoveBas);
}

#[test]
fn what_was_held_once_stays_held_although_the_rest_came_back() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(5);
    let shown = w.held()[0].clone();
    w.lists_only("A", 0, 25); // 14 of 40 are less than half
    w.step(5);
    assert_eq!(w.covered(Some("A")), 40);
    let held = w.held()[0].clone();
    assert_eq!((held.since, held.units()), (shown.since, 14));
    assert_ne!(held.id, shown.id, "another number: it is no longer what was shown");
    w.lists_only("A", 0, 39);
    w.step(5);
    assert_eq!(w.held(), []);
}

#[test]
fn confirmed_addresses_are_out_of_the_owners_reference() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(65);
    assert_eq!(w.covered(Some("A")), 16);
    w.lists_only("A", 0, 7); // half of what is left
    w.step(5);
    assert_eq!(w.covered(Some("A")), 8);
    assert_eq!(w.held(), []);
}

#[test]
fn an_address_that_was_anothers_between_does_not_flap() {
    let mut w = ten();
    for (from, to) in [("A", "B"), ("B", "A")] {
        w.unlists(from, &["p0", "z"]);
        w.lists(to, "z", 0, 9);
        w.step(11);
        assert_eq!(w.own(0), Some(to));
    }
    w.unlists("A", &["z"]);
    w.step(5);
    assert_eq!(w.own(0), None);
    assert_eq!(w.held(), []);
}

#[test]
fn an_incident_takes_in_what_was_held_before() {
    let mut w = ten();
    w.lists_only("A", 0, 15);
    w.step(5);
    w.lists_only("A", 0, 25);
    w.step(5);
    assert_eq!(w.held()[0].reason, HoldReason::RemoveBas);
    w.lists_only("A", 0, 24);
    w.unlists("B", &["p0"]);
    w.unlists("C", &["p0"]);
    w.unlists("D", &["p0"]);
    w.unlists("E", &["p0"]);
    for name in ["A", "B", "C", "D", "E"] {
        w.poll_one(name, true);
    }
    w.cycle(); // 1 + 4 x 10 of 400
    let held: Vec<_> = w.held().iter().map(|h| (&*h.owner, h.reason, h.incident, h.units())).collect();
    let incident = HoldReason::Incident;
    assert_eq!(held[0], ("A", incident, Some(1), 15));
    assert_eq!(held[1], ("B", incident, Some(1), 10));
    assert_eq!(held.len(), 5);
    w.step(100);
    assert_eq!(w.covered(None), 400);
}

#[test]
fn holds_and_the_reference_survive_a_restart() {
    let mut w = ten();
    w.lists_only("A", 0, 19);
    w.step(5);
    assert_eq!(w.covered(Some("A")), 20, "half may go");
    w.lists_only("B", 40, 45);
    w.step(5);
    let held = w.held().to_vec();
    assert_eq!(held[0].owner, "B".into());
    w.restart(3);
    w.step(10);
    assert_eq!(w.held()[0].id, held[0].id);
    assert_eq!(w.held()[0].digest(), held[0].digest());
    w.lists_only("A", 0, 18);
    w.step(5);
    assert_eq!(w.covered(Some("A")), 20, "the half that went is still counted");
}

#[test]
fn too_much_at_once_is_asked_about() {
    let mut w = Start { size: 1000, ..start(&TEN) }.world();
    w.lists("A", "new", 400, 480); // 81 is more than twice 40, and more than 20 % of 400
    w.step(5);
    assert_eq!(w.own(400), None);
    assert_eq!(
        w.held().iter().map(|h| (h.kind, h.reason, h.units())).collect::<Vec<_>>(),
        [(HoldKind::Addition, HoldReason::AddBas, 81)]
    );
    w.unlists("A", &["new"]);
    w.step(5);
    assert_eq!(w.held(), [], "the change is gone");

    for name in ["A", "B"] {
        w.lists(name, "new", 400 + begin(name) * 2, 400 + begin(name) * 2 + 40);
        w.poll_one(name, true);
    }
    w.cycle(); // 82 of 400 together, neither more than twice 40
    assert_eq!(w.own(400), None);
    assert!(w.held().iter().all(|h| h.reason == HoldReason::Add));
    w.approve_all();
    assert_eq!((w.own(400), w.own(480)), (Some("A"), Some("B")));
    assert_eq!(w.held(), []);
}

#[test]
fn static_lines_are_a_persons_word() {
    let mut w = Start { size: 1000, ..start(&TEN) }.world();
    w.line(500, 899, "A", StaticMode::Fill);
    assert_eq!(w.own(500), Some("A"), "more than any share, and not judged");
    w.lines.clear();
    w.cycle();
    assert_eq!(w.own(500), None);
    w.line(40, 79, "A", StaticMode::Override);
    assert_eq!(w.own(40), Some("A"));
    assert_eq!(w.held(), []);
}
