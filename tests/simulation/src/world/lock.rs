//! The right to send, one tab's at a time; and how it can be taken away without notice.

use std::collections::VecDeque;
use std::rc::Rc;

use futures_channel::oneshot;

use super::World;
use crate::executor::Party;
use crate::trace::Happened;

/// Who holds the lock and who waits for it.
#[derive(Default)]
pub(crate) struct Locks {
    holder: Option<(Party, u64)>,
    waiting: VecDeque<(Party, oneshot::Sender<Guard>)>,
    last: u64,
}

/// The lock, until it is dropped.
pub(crate) struct Guard {
    world: Rc<World>,
    number: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut locks = self.world.locks.borrow_mut();
        // A holder from whom it was stolen has nothing to give back.
        if locks.holder.is_some_and(|(_, number)| number == self.number) {
            locks.holder = None;
            drop(locks);
            self.world.grant();
        }
    }
}

/// One tab's way to the lock.
pub(crate) struct TabLock {
    pub(crate) world: Rc<World>,
    pub(crate) tab: Party,
}

impl warifu::port::Lock for TabLock {
    type Guard = Guard;

    async fn acquire(&self) -> Guard {
        let (grant, granted) = oneshot::channel();
        self.world.locks.borrow_mut().waiting.push_back((self.tab, grant));
        self.world.grant();
        match granted.await {
            Ok(guard) => guard,
            Err(_) => std::future::pending().await,
        }
    }
}

impl World {
    fn grant(self: &Rc<Self>) {
        let next = {
            let mut locks = self.locks.borrow_mut();
            if locks.holder.is_some() {
                return;
            }
            take_next(&mut locks)
        };
        self.give(next);
    }

    /// Gives the lock to the next in line though somebody holds it.
    pub(crate) fn steal_lock(self: &Rc<Self>) -> bool {
        let (from, next) = {
            let mut locks = self.locks.borrow_mut();
            let Some((from, _)) = locks.holder else { return false };
            (from, take_next(&mut locks))
        };
        if let Some((to, _, _)) = &next {
            self.note(Happened::Stolen { from, to: *to });
        }
        let stolen = next.is_some();
        self.give(next);
        stolen
    }

    fn give(self: &Rc<Self>, next: Option<(Party, u64, oneshot::Sender<Guard>)>) {
        if let Some((_, number, grant)) = next {
            // A guard that nobody takes is dropped, and the lock goes on.
            let _ = grant.send(Guard { world: Rc::clone(self), number });
        }
    }
}

fn take_next(locks: &mut Locks) -> Option<(Party, u64, oneshot::Sender<Guard>)> {
    while let Some((tab, grant)) = locks.waiting.pop_front() {
        if !grant.is_canceled() {
            locks.last += 1;
            locks.holder = Some((tab, locks.last));
            return Some((tab, locks.last, grant));
        }
    }
    None
}
