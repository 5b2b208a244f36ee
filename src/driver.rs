//! The only async loop: carries the engine's outputs out, and feeds what comes of them back.

use std::collections::HashMap;
use std::future::Future;
use std::rc::Rc;

use futures_channel::{mpsc, oneshot};
use futures_util::future::{AbortHandle, LocalBoxFuture, abortable};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, select_biased};

use crate::core::engine::{Call, CallError, Engine, Found, Input, Output, Read, Replied, Ticket, Token};
use crate::core::event::{Event, Message, Status};
use crate::port::{Channel, Clock, Lock, Store, Transport, Write};

/// The surroundings of one engine.
pub struct Ports<S, T, C, L, H> {
    /// The durable store.
    pub store: S,
    /// The way to the backend.
    pub transport: T,
    /// The clock.
    pub clock: C,
    /// The right to send.
    pub lock: L,
    /// The other tabs.
    pub channel: H,
}

/// Who is told what happens. It may call the outbox again: nothing is borrowed while it runs.
pub trait Observer {
    /// Something happened.
    fn event(&self, event: &Event);
    /// The status changed.
    fn status(&self, status: &Status);
}

/// The way into the loop. All of its copies lead to the same.
#[derive(Clone, Debug)]
pub struct Handle {
    inbox: mpsc::UnboundedSender<Letter>,
}

enum Letter {
    Call(Call, oneshot::Sender<Replied>),
    Open(oneshot::Sender<Replied>),
    Close(oneshot::Sender<Replied>),
    Input(Input),
}

impl Handle {
    /// Reads how the queue stands, and begins to send. Resolves when the queue's counts are known.
    pub fn open(&self) -> impl Future<Output = Replied> + use<> {
        self.post(Letter::Open)
    }

    /// Makes a call. It is on its way when this returns; the future only waits for its end.
    pub fn call(&self, call: Call) -> impl Future<Output = Replied> + use<> {
        self.post(|reply| Letter::Call(call, reply))
    }

    /// Stops after what is being written is written.
    pub fn close(&self) -> impl Future<Output = Replied> + use<> {
        self.post(Letter::Close)
    }

    /// Passes another tab's message on.
    pub fn message(&self, text: &str) {
        if let Ok(message) = serde_json::from_str::<Message>(text) {
            let _ = self.inbox.unbounded_send(Letter::Input(Input::Message(message)));
        }
    }

    /// Passes the browser's hint on.
    pub fn online(&self, online: bool) {
        let _ = self.inbox.unbounded_send(Letter::Input(Input::Online(online)));
    }

    fn post<L>(&self, letter: L) -> impl Future<Output = Replied> + use<L>
    where
        L: FnOnce(oneshot::Sender<Replied>) -> Letter,
    {
        let (reply, replied) = oneshot::channel();
        let _ = self.inbox.unbounded_send(letter(reply));
        // When the loop has ended, the letter and its sender are gone.
        async { replied.await.unwrap_or(Err(CallError::Closed)) }
    }
}

/// A loop, and the way into it. The future must be run; it ends after [`Handle::close`].
pub fn start<S, T, C, L, H, O>(
    engine: Engine,
    ports: Ports<S, T, C, L, H>,
    observer: O,
) -> (Handle, impl Future<Output = ()>)
where
    S: Store + 'static,
    T: Transport + 'static,
    C: Clock + 'static,
    L: Lock + 'static,
    H: Channel + 'static,
    O: Observer,
{
    let (sender, receiver) = mpsc::unbounded();
    let driver = Driver {
        engine,
        ports: Rc::new(ports),
        observer,
        tickets: HashMap::new(),
        last_ticket: 0,
        running: FuturesUnordered::new(),
        guard: None,
        acquiring: None,
        sleeping: None,
    };
    (Handle { inbox: sender }, driver.run(receiver))
}

/// What a future that ran beside the loop came to.
enum Step<G> {
    Input(Input),
    Locked(G),
    Cancelled,
}

struct Driver<S, T, C, L: Lock, H, O> {
    engine: Engine,
    ports: Rc<Ports<S, T, C, L, H>>,
    observer: O,
    tickets: HashMap<Ticket, oneshot::Sender<Replied>>,
    last_ticket: u64,
    running: FuturesUnordered<LocalBoxFuture<'static, Step<L::Guard>>>,
    guard: Option<L::Guard>,
    acquiring: Option<AbortHandle>,
    sleeping: Option<AbortHandle>,
}

impl<S, T, C, L, H, O> Driver<S, T, C, L, H, O>
where
    S: Store + 'static,
    T: Transport + 'static,
    C: Clock + 'static,
    L: Lock + 'static,
    H: Channel + 'static,
    O: Observer,
{
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Letter>) {
        loop {
            let mut inputs = Vec::new();
            select_biased! {
                letter = inbox.next() => match letter {
                    Some(letter) => inputs.push(self.open_letter(letter)),
                    // Nobody can call any more.
                    None => return,
                },
                step = self.running.select_next_some() => inputs.extend(self.take_step(step)),
            }
            while let Ok(letter) = inbox.try_recv() {
                inputs.push(self.open_letter(letter));
            }
            while let Some(Some(step)) = self.running.next().now_or_never() {
                inputs.extend(self.take_step(step));
            }
            let now = self.ports.clock.now();
            self.engine.handle(inputs, now);
            while let Some(output) = self.engine.poll() {
                if let Output::Closed(ticket) = output {
                    drop(self.guard.take());
                    self.reply(ticket, Ok(crate::core::engine::Reply::Done));
                    return;
                }
                self.carry_out(output);
            }
        }
    }

    fn open_letter(&mut self, letter: Letter) -> Input {
        let mut ticket = |reply| {
            self.last_ticket += 1;
            let ticket = Ticket(self.last_ticket);
            self.tickets.insert(ticket, reply);
            ticket
        };
        match letter {
            Letter::Open(reply) => Input::Open(ticket(reply)),
            Letter::Call(call, reply) => Input::Call(ticket(reply), call),
            Letter::Close(reply) => Input::Close(ticket(reply)),
            Letter::Input(input) => input,
        }
    }

    fn take_step(&mut self, step: Step<L::Guard>) -> Option<Input> {
        match step {
            Step::Input(input) => Some(input),
            Step::Locked(guard) => {
                self.guard = Some(guard);
                Some(Input::LockAcquired)
            }
            Step::Cancelled => None,
        }
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Read(token, read) => self.beside(|ports| async move { ports.read(token, read).await }),
            Output::Write(token, write) => self.beside(|ports| async move { ports.write(token, write).await }),
            Output::Send(token, request) => {
                self.beside(|ports| async move { Input::Sent(token, ports.transport.send(request).await) });
            }
            Output::Refresh => self.beside(|ports| async move { Input::Refreshed(ports.transport.refresh().await) }),
            Output::AcquireLock => self.acquire_lock(),
            Output::ReleaseLock => {
                drop(self.guard.take());
                abort(&mut self.acquiring);
            }
            Output::WakeAt(None) => abort(&mut self.sleeping),
            Output::WakeAt(Some(time)) => self.sleep_until(time),
            Output::Reply(ticket, replied) => self.reply(ticket, replied),
            Output::Event(event) => self.observer.event(&event),
            Output::Status(status) => self.observer.status(&status),
            Output::Post(message) => {
                if let Ok(text) = serde_json::to_string(&message) {
                    self.ports.channel.post(&text);
                }
            }
            Output::Closed(_) => {}
        }
    }

    fn beside<F>(&mut self, work: impl FnOnce(Rc<Ports<S, T, C, L, H>>) -> F)
    where
        F: Future<Output = Input> + 'static,
    {
        self.running.push(work(Rc::clone(&self.ports)).map(Step::Input).boxed_local());
    }

    fn acquire_lock(&mut self) {
        let ports = Rc::clone(&self.ports);
        let (acquiring, handle) = abortable(async move { ports.lock.acquire().await });
        abort(&mut self.acquiring);
        self.acquiring = Some(handle);
        self.running.push(acquiring.map(|guard| guard.map_or(Step::Cancelled, Step::Locked)).boxed_local());
    }

    fn sleep_until(&mut self, time: crate::core::time::Time) {
        let ports = Rc::clone(&self.ports);
        let length = time.since(ports.clock.now());
        let (sleeping, handle) = abortable(async move { ports.clock.sleep(length).await });
        abort(&mut self.sleeping);
        self.sleeping = Some(handle);
        let woken = |slept: Result<(), _>| slept.map_or(Step::Cancelled, |()| Step::Input(Input::Wake));
        self.running.push(sleeping.map(woken).boxed_local());
    }

    fn reply(&mut self, ticket: Ticket, replied: Replied) {
        if let Some(reply) = self.tickets.remove(&ticket) {
            // Whoever asked may have stopped waiting.
            let _ = reply.send(replied);
        }
    }
}

impl<S: Store, T, C, L, H> Ports<S, T, C, L, H> {
    async fn read(&self, token: Token, read: Read) -> Input {
        let store = &self.store;
        let found = match read {
            Read::Meta => store.meta().await.map(Found::Meta),
            Read::Get(kind, id) => store.get(&kind, id).await.map(|record| Found::Record(record.map(Box::new))),
            Read::Load(orders) => store.load(&orders).await.map(Found::Records),
            Read::Due(query) => store.due(query).await.map(Found::Due),
            Read::List(query) => store.list(&query).await.map(Found::Page),
        };
        Input::Read(token, found)
    }

    async fn write(&self, token: Token, write: Write) -> Input {
        Input::Write(token, self.store.write(write).await)
    }
}

fn abort(handle: &mut Option<AbortHandle>) {
    if let Some(handle) = handle.take() {
        handle.abort();
    }
}
