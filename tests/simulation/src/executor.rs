//! One thread, virtual time, and an order of polling that the seed chooses.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Whose task it is: a tab's instance, or the world around all of them.
pub(crate) type Party = u32;

/// The disk, the network and the server: what no crash of a tab stops.
pub(crate) const WORLD: Party = 0;

type Woken = Arc<Mutex<Vec<usize>>>;
type Work = Pin<Box<dyn Future<Output = ()>>>;

struct TaskWaker {
    id: usize,
    queued: AtomicBool,
    woken: Woken,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.woken.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
        }
    }
}

struct Task {
    party: Party,
    work: Work,
    state: Arc<TaskWaker>,
    waker: Waker,
}

#[derive(Default)]
struct Inner {
    tasks: BTreeMap<usize, Task>,
    last_id: usize,
    runnable: Vec<usize>,
    /// Runnable, but their tab is frozen.
    held: Vec<usize>,
    frozen: BTreeSet<Party>,
    timers: BTreeMap<(u64, u64), Waker>,
    last_timer: u64,
}

/// Runs tasks by one seed.
pub(crate) struct Executor {
    inner: RefCell<Inner>,
    woken: Woken,
    now: Cell<u64>,
    random: RefCell<fastrand::Rng>,
}

impl Executor {
    pub(crate) fn new(seed: u64) -> Rc<Self> {
        Rc::new(Self {
            inner: RefCell::default(),
            woken: Woken::default(),
            now: Cell::new(0),
            random: RefCell::new(fastrand::Rng::with_seed(seed)),
        })
    }

    /// Milliseconds since the run began; it never jumps.
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    pub(crate) fn spawn(&self, party: Party, work: impl Future<Output = ()> + 'static) {
        let mut inner = self.inner.borrow_mut();
        inner.last_id += 1;
        let id = inner.last_id;
        let state = Arc::new(TaskWaker { id, queued: AtomicBool::new(true), woken: Arc::clone(&self.woken) });
        let waker = Waker::from(Arc::clone(&state));
        let work = Box::pin(work);
        inner.tasks.insert(id, Task { party, work, state, waker });
        inner.runnable.push(id);
    }

    /// Polls one task; `false` when nothing will ever run again.
    pub(crate) fn step(&self) -> bool {
        let Some(id) = self.next_runnable() else {
            return false;
        };
        let taken = self.inner.borrow_mut().tasks.remove(&id);
        let Some(mut task) = taken else { return true };
        if self.inner.borrow().frozen.contains(&task.party) {
            let mut inner = self.inner.borrow_mut();
            inner.held.push(id);
            inner.tasks.insert(id, task);
            return true;
        }
        task.state.queued.store(false, Ordering::Relaxed);
        let polled = task.work.as_mut().poll(&mut Context::from_waker(&task.waker));
        if polled.is_pending() {
            self.inner.borrow_mut().tasks.insert(id, task);
        }
        true
    }

    fn next_runnable(&self) -> Option<usize> {
        loop {
            let mut inner = self.inner.borrow_mut();
            inner.runnable.append(&mut self.woken.lock().unwrap_or_else(PoisonError::into_inner));
            if !inner.runnable.is_empty() {
                let index = self.random.borrow_mut().usize(..inner.runnable.len());
                return Some(inner.runnable.swap_remove(index));
            }
            let ((time, _), waker) = inner.timers.pop_first()?;
            self.now.set(self.now.get().max(time));
            waker.wake();
            while let Some(timer) = inner.timers.first_entry()
                && timer.key().0 <= time
            {
                timer.remove().wake();
            }
        }
    }

    /// Drops everything that a party runs.
    pub(crate) fn kill(&self, party: Party) {
        let mut inner = self.inner.borrow_mut();
        let ids: Vec<usize> = inner.tasks.iter().filter(|(_, task)| task.party == party).map(|(id, _)| *id).collect();
        let dropped: Vec<Option<Task>> = ids.iter().map(|id| inner.tasks.remove(id)).collect();
        inner.frozen.remove(&party);
        drop(inner);
        drop(dropped);
    }

    /// Polls nothing of a party until it is thawed.
    pub(crate) fn freeze(&self, party: Party) {
        self.inner.borrow_mut().frozen.insert(party);
    }

    pub(crate) fn thaw(&self, party: Party) {
        let mut inner = self.inner.borrow_mut();
        inner.frozen.remove(&party);
        let held = std::mem::take(&mut inner.held);
        inner.runnable.extend(held);
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        let tasks = std::mem::take(&mut self.inner.borrow_mut().tasks);
        drop(tasks);
        let timers = std::mem::take(&mut self.inner.borrow_mut().timers);
        drop(timers);
    }

    pub(crate) fn sleep(self: &Rc<Self>, millis: u64) -> Sleep {
        Sleep { executor: Rc::clone(self), until: self.now().saturating_add(millis), key: None }
    }
}

/// Resolves when virtual time has come so far.
pub(crate) struct Sleep {
    executor: Rc<Executor>,
    until: u64,
    key: Option<(u64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.executor.now() >= self.until && self.key.is_some() {
            return Poll::Ready(());
        }
        let executor = Rc::clone(&self.executor);
        let mut inner = executor.inner.borrow_mut();
        let key = match self.key {
            Some(key) => key,
            None => {
                inner.last_timer += 1;
                (self.until, inner.last_timer)
            }
        };
        inner.timers.insert(key, context.waker().clone());
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key
            && let Ok(mut inner) = self.executor.inner.try_borrow_mut()
        {
            inner.timers.remove(&key);
        }
    }
}

/// Lets others go first, once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}
