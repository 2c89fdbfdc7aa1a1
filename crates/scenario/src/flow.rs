//! What ends before its end, as instructions: the way out of everything that it stands in.
//!
//! A jump out of a transaction has to end it, and one out of a section has to leave it, or the next user waits for ever. A user knows
//! neither; whoever compiles knows both. So what an item stands in is kept while its list is compiled, and the way out is written out
//! where it begins: closing instructions, the innermost first, and a jump.

use plan::template::Template;
use plan::work::{self, Extent, Item, each_item};
use template::Place;

use crate::compiled::{Compiling, Op, expression, lead};
use crate::expression::Expression;

/// What the items at hand stand in.
pub(super) enum Frame {
    /// A loop: jumps to its next round, and jumps behind it, by their places.
    Loop {
        rounds: Vec<usize>,
        ends: Vec<usize>,
    },
    Transaction,
    Section,
    /// What is done once, which is done when it is left.
    Once {
        number: usize,
        variables: Vec<usize>,
    },
    /// A condition that is looked at before each of the items in it, and jumps behind them, by their places.
    Guard {
        condition: work::Expression,
        exits: Vec<usize>,
    },
    /// A branch beside others, which nothing leads out of.
    Branch,
}

/// Whether an item belongs to the one behind it: what a condition decides of the one, it decides of both.
pub(super) const fn prepares(item: &Item) -> bool {
    matches!(
        item,
        Item::Pause(_)
            | Item::Pacing(_)
            | Item::Set(_)
            | Item::Script(_)
            | Item::Rendezvous { .. }
            | Item::ForgetCookies
            | Item::ForgetCache
            | Item::ForgetConnections
    )
}

impl Compiling<'_> {
    /// Compiles items that stand in something, and gives that back.
    pub(super) fn within(&mut self, frame: Frame, items: &[Item], journey: u32, ops: &mut Vec<Op>) -> Frame {
        self.frames.push(frame);
        self.items(items, journey, ops);
        self.frames.pop().expect("it was put there")
    }

    /// Compiles the items of a loop, and the way back to where its next round begins.
    pub(super) fn looped(&mut self, items: &[Item], journey: u32, ops: &mut Vec<Op>, begin: usize) {
        let frame = self.within(Frame::Loop { rounds: Vec::new(), ends: Vec::new() }, items, journey, ops);
        ops.push(Op::Jump(begin));
        Self::close_loop(frame, begin, ops);
    }

    /// Leads what leaves a round or a loop, whose instructions end here, to where that is.
    pub(super) fn close_loop(frame: Frame, begin: usize, ops: &mut [Op]) {
        let Frame::Loop { rounds, ends } = frame else { unreachable!("it is a loop") };
        let end = ops.len();
        rounds.into_iter().for_each(|at| lead(&mut ops[at], begin));
        ends.into_iter().for_each(|at| lead(&mut ops[at], end));
    }

    /// The way to the next round of the innermost loop, or behind the loop. Without one it ends what it stands in.
    pub(super) fn end_loop(&mut self, is_round: bool, ops: &mut Vec<Op>) {
        let is_last = |frame: &Frame| matches!(frame, Frame::Loop { .. } | Frame::Branch);
        let Some(at) = self.frames.iter().rposition(is_last) else { return self.end(Extent::Journey, ops) };
        self.close(at + 1, ops);
        self.forgive(ops);
        let jump = ops.len();
        match &mut self.frames[at] {
            Frame::Loop { rounds, .. } if is_round => rounds.push(jump),
            Frame::Loop { ends, .. } => ends.push(jump),
            _ => return ops.push(Op::BranchEnd),
        }
        ops.push(Op::Jump(0));
    }

    /// The way out of the journey.
    pub(super) fn end(&mut self, extent: Extent, ops: &mut Vec<Op>) {
        let branch = self.frames.iter().rposition(|frame| matches!(frame, Frame::Branch));
        self.close(branch.map_or(0, |at| at + 1), ops);
        self.forgive(ops);
        ops.push(if branch.is_some() { Op::BranchEnd } else { Op::EndJourney(extent) });
    }

    /// Looks at the conditions that the item at hand stands in, the outermost first.
    pub(super) fn look_at_guards(&mut self, ops: &mut Vec<Op>) {
        if self.looked_at == Some(ops.len()) {
            // Something that begins with this item was to be looked at.
            return;
        }
        let branch = self.frames.iter().rposition(|frame| matches!(frame, Frame::Branch));
        for at in branch.map_or(0, |at| at + 1)..self.frames.len() {
            let Frame::Guard { condition, .. } = &self.frames[at] else { continue };
            let condition = expression(&mut self.compiler, (&mut self.errors, &mut self.order.counts), condition);
            let look = ops.len();
            ops.extend([Op::Unless(condition, 0), Op::Jump(0)]);
            self.close(at + 1, ops);
            let exit = if ops.len() == look + 2 {
                // There is nothing to close on the way.
                ops.truncate(look + 1);
                look
            } else {
                lead(&mut ops[look], look + 2);
                ops.push(Op::Jump(0));
                let on = ops.len();
                lead(&mut ops[look + 1], on);
                on - 1
            };
            if let Frame::Guard { exits, .. } = &mut self.frames[at] {
                exits.push(exit);
            }
        }
        self.looked_at = Some(ops.len());
    }

    /// Leads what leaves a condition's items, whose instructions end here, to here.
    pub(super) fn close_guard(frame: Frame, ops: &mut [Op]) {
        let Frame::Guard { exits, .. } = frame else { unreachable!("it is a condition") };
        let end = ops.len();
        exits.into_iter().for_each(|at| lead(&mut ops[at], end));
    }

    /// What failed is behind the user.
    fn forgive(&mut self, ops: &mut Vec<Op>) {
        if let Some(place) = self.last_succeeded {
            ops.push(Op::Set(place, Expression::Text(self.compiler.text(&Template::fixed("true"), Place::Plain))));
        }
    }

    /// Closes what the items at hand stand in, down to this frame.
    fn close(&self, down_to: usize, ops: &mut Vec<Op>) {
        for frame in self.frames[down_to..].iter().rev() {
            match frame {
                Frame::Loop { .. } | Frame::Guard { .. } | Frame::Branch => {}
                Frame::Transaction => ops.push(Op::End),
                Frame::Section => ops.push(Op::Leave),
                Frame::Once { number, variables } => ops.push(Op::OnceDone { number: *number, variables: variables.clone() }),
            }
        }
    }

    /// The places of all variables that these items give a value.
    pub(super) fn assigned(&self, items: &[Item]) -> Vec<usize> {
        let mut variables = Vec::new();
        each_item(items, &mut |item| variables.extend(item.assigned().into_iter().map(|name| self.place(name))));
        variables
    }
}
