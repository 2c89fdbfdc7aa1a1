//! Where a note goes so that it hides nothing.
//!
//! A label at a fixed offset from its point lies on a line as soon as the data turn the other way. So several places
//! around the point are tried, near ones first, and the cheapest is taken: crossing a line costs, covering a marker costs
//! more, covering another label most. The search is a fixed list, so the same chart always gets the same places.

/// A box, in pixels, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    fn at((left, top): (f64, f64), (width, height): (f64, f64)) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
        other.left >= self.left && other.right <= self.right && other.top >= self.top && other.bottom <= self.bottom
    }

    /// Moved sideways by as little as it takes to lie within `other`.
    fn moved_within(self, other: &Self) -> Self {
        let by = (other.left - self.left).max(0.0) - (self.right - other.right).max(0.0);
        Self { left: self.left + by, right: self.right + by, ..self }
    }

    /// Whether any part of the straight line from `a` to `b` lies inside.
    ///
    /// Liang and Barsky (1984): the share of the line inside is narrowed by one edge after the other.
    pub(crate) fn is_crossed(&self, a: (f64, f64), b: (f64, f64)) -> bool {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let mut enters: f64 = 0.0;
        let mut leaves: f64 = 1.0;
        for (towards, room) in [(-dx, a.0 - self.left), (dx, self.right - a.0), (-dy, a.1 - self.top), (dy, self.bottom - a.1)] {
            if towards == 0.0 {
                if room < 0.0 {
                    return false;
                }
            } else if towards < 0.0 {
                enters = enters.max(room / towards);
            } else {
                leaves = leaves.min(room / towards);
            }
        }
        enters <= leaves
    }

    /// The point of the box that is nearest to this one.
    pub fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }
}

/// What notes must keep clear of.
pub(crate) struct Ground {
    pub within: Area,
    pub lines: Vec<((f64, f64), (f64, f64))>,
    pub markers: Vec<(f64, f64)>,
    pub labels: Vec<Area>,
}

const LINE_COST: f64 = 60.0;
const MARKER_COST: f64 = 90.0;
/// For a leader that crosses a line: it is followed with the eye all the same.
const LEADER_COST: f64 = 22.0;
/// For a label that is nearer to another marker than to its own.
const AMBIGUOUS_COST: f64 = 14.0;
const LABEL_COST: f64 = 1_000.0;
/// Free room around the centre of a marker.
const MARKER_ROOM: f64 = 8.0;
const OUTSIDE_COST: f64 = 5_000.0;

impl Ground {
    /// The best box of this size beside a point; it counts as taken from then on.
    pub(crate) fn beside_point(&mut self, point: (f64, f64), size: (f64, f64)) -> Area {
        let (width, height) = size;
        let mut places = Vec::new();
        for (ring, distance) in [16.0, 28.0, 44.0, 64.0, 88.0, 118.0, 160.0, 220.0].into_iter().enumerate() {
            let aside = distance * 0.8;
            let corners = [
                (point.0 - width / 2.0, point.1 - distance - height),
                (point.0 + aside, point.1 - aside - height / 2.0),
                (point.0 - aside - width, point.1 - aside - height / 2.0),
                (point.0 - width / 2.0, point.1 + distance),
                (point.0 + aside, point.1 + aside - height / 2.0),
                (point.0 - aside - width, point.1 + aside - height / 2.0),
                (point.0 + distance, point.1 - height / 2.0),
                (point.0 - distance - width, point.1 - height / 2.0),
            ];
            for (turn, corner) in corners.into_iter().enumerate() {
                let wanted = Area::at(corner, size);
                let moved = wanted.moved_within(&self.within);
                let far = (moved.left - wanted.left).abs() * 0.05;
                let near = ring as f64 * 6.0 + turn as f64 * 1.5 + far;
                places.push((moved, near + self.doubt(&moved, point)));
            }
        }
        self.cheapest(places)
    }

    /// The best box of this size beside a vertical line at `x`; it counts as taken from then on.
    pub(crate) fn beside_line(&mut self, x: f64, size: (f64, f64)) -> Area {
        let mut places = Vec::new();
        let mut top = self.within.top + 4.0;
        while top + size.1 <= self.within.bottom {
            let far = (top - self.within.top) * 0.05;
            places.push((Area::at((x + 8.0, top), size), far));
            places.push((Area::at((x - 8.0 - size.0, top), size), far + 1.0));
            top += size.1 / 2.0;
        }
        self.cheapest(places)
    }

    fn cheapest(&mut self, places: Vec<(Area, f64)>) -> Area {
        let best = places
            .into_iter()
            .map(|(area, cost)| (area, cost + self.cost(&area)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(self.within, |(area, _)| area);
        self.labels.push(best);
        best
    }

    /// What it costs the reader to see that this label belongs to this point.
    fn doubt(&self, area: &Area, point: (f64, f64)) -> f64 {
        let distance = |to: (f64, f64)| {
            let end = area.nearest(to);
            (end.0 - to.0).hypot(end.1 - to.1)
        };
        let is_elsewhere = |other: &&(f64, f64)| (other.0 - point.0).hypot(other.1 - point.1) > MARKER_ROOM;
        let nearer = self.markers.iter().filter(is_elsewhere).filter(|other| distance(**other) < distance(point)).count();
        let end = area.nearest(point);
        // From a little off the point, so that the lines through the point itself do not count.
        let start = (point.0 + (end.0 - point.0) * 0.3, point.1 + (end.1 - point.1) * 0.3);
        let crossed = self.lines.iter().filter(|(a, b)| cross(start, end, *a, *b)).count();
        AMBIGUOUS_COST * nearer as f64 + LEADER_COST * crossed as f64
    }

    fn cost(&self, area: &Area) -> f64 {
        let taken = |areas: &[Area]| areas.iter().filter(|other| area.overlaps(other)).count();
        let covered = self.markers.iter().filter(|marker| area.overlaps(&Area::around(**marker, MARKER_ROOM))).count();
        let crossed = self.lines.iter().filter(|(a, b)| area.is_crossed(*a, *b)).count();
        let outside = if self.within.holds(area) { 0.0 } else { OUTSIDE_COST };
        outside + LINE_COST * crossed as f64 + MARKER_COST * covered as f64 + LABEL_COST * taken(&self.labels) as f64
    }
}

/// Whether two straight lines have a point in common: the ends of each lie on both sides of the other.
fn cross(a: (f64, f64), b: (f64, f64), c: (f64, f64), d: (f64, f64)) -> bool {
    let side =
        |from: (f64, f64), to: (f64, f64), point: (f64, f64)| (to.0 - from.0) * (point.1 - from.1) - (to.1 - from.1) * (point.0 - from.0);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ground() -> Ground {
        Ground {
            within: Area { left: 0.0, top: 0.0, right: 1_000.0, bottom: 500.0 },
            lines: Vec::new(),
            markers: Vec::new(),
            labels: Vec::new(),
        }
    }

    #[test]
    fn a_line_through_a_box_is_seen() {
        let area = Area::around((10.0, 10.0), 5.0);
        assert!(area.is_crossed((0.0, 0.0), (20.0, 20.0)));
        assert!(area.is_crossed((10.0, 0.0), (10.0, 8.0)));
        assert!(!area.is_crossed((0.0, 0.0), (20.0, 0.0)));
        assert!(!area.is_crossed((0.0, 12.0), (8.0, 30.0)));
    }

    #[test]
    fn a_label_stands_above_its_point_when_nothing_is_in_the_way() {
        let area = ground().beside_point((500.0, 250.0), (200.0, 20.0));
        assert!(area.bottom < 250.0 && area.left < 500.0 && area.right > 500.0);
    }

    #[test]
    fn a_label_goes_elsewhere_when_a_line_runs_above_its_point() {
        let mut ground = ground();
        ground.lines.push(((0.0, 220.0), (1_000.0, 220.0)));
        let area = ground.beside_point((500.0, 250.0), (200.0, 20.0));
        assert!(!area.is_crossed((0.0, 220.0), (1_000.0, 220.0)));
    }

    #[test]
    fn a_label_keeps_nearer_to_its_own_marker() {
        let mut ground = ground();
        let (own, other) = ((500.0, 270.0), (500.0, 250.0));
        ground.markers.extend([own, other]);
        let area = ground.beside_point(own, (120.0, 20.0));
        let distance = |to: (f64, f64)| {
            let end = area.nearest(to);
            (end.0 - to.0).hypot(end.1 - to.1)
        };
        assert!(distance(own) < distance(other), "{area:?}");
    }

    #[test]
    fn lines_that_only_touch_do_not_cross() {
        assert!(cross((0.0, 0.0), (2.0, 2.0), (0.0, 2.0), (2.0, 0.0)));
        assert!(!cross((0.0, 0.0), (2.0, 2.0), (2.0, 2.0), (3.0, 0.0)));
        assert!(!cross((0.0, 0.0), (2.0, 2.0), (0.0, 1.0), (2.0, 3.0)));
    }

    proptest! {
        #[test]
        fn labels_stay_inside_and_apart(
            points in proptest::collection::vec((0.0f64..1_000.0, 0.0f64..500.0), 1..5),
        ) {
            let mut ground = ground();
            let within = ground.within;
            for point in points {
                let before = ground.labels.clone();
                let area = ground.beside_point(point, (220.0, 22.0));
                prop_assert!(within.holds(&area));
                prop_assert!(before.iter().all(|other| !other.overlaps(&area)));
            }
        }
    }
}
