//! The network between a tab and the server: it loses, doubles and delays.

use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use warifu::port::{Delivery, HttpRequest, Method, Transport};

use super::World;
use super::answer::Answer;
use super::server::{Item, items_of};
use crate::executor::Party;
use crate::fault::Fault;
use crate::trace::Happened;

/// One tab's way to the server.
pub(crate) struct Line {
    pub(crate) world: Rc<World>,
    pub(crate) tab: Party,
}

impl Line {
    /// Sends a request over the network and waits until its deadline.
    pub(crate) async fn carry(&self, request: HttpRequest) -> Delivery {
        if request.method == Method::Get {
            return self.capabilities().await;
        }
        let number = World::next(&self.world.requests);
        let items = items_of(&request.body);
        self.world.note(Happened::Request {
            tab: self.tab,
            request: number,
            items: items.iter().map(|item| (item.id, item.content)).collect(),
        });
        let (reply, replied) = oneshot::channel();
        let world = Rc::clone(&self.world);
        self.world.spawn(async move { world.travel(number, items, reply).await });
        let deadline = Box::pin(self.world.sleep(request.deadline.0));
        let (delivery, floor) = match select(replied, deadline).await {
            Either::Left((Ok(delivery), _)) => delivery,
            Either::Left((Err(_), deadline)) => {
                deadline.await;
                (Delivery::DeadlinePassed, None)
            }
            Either::Right(_) => (Delivery::DeadlinePassed, None),
        };
        self.world.note(Happened::Delivered { tab: self.tab, request: number, how: describe(&delivery), floor });
        delivery
    }

    async fn capabilities(&self) -> Delivery {
        self.world.hop().await;
        let (items, bytes) = match self.world.plan.limits {
            Some(limits) if self.world.faults_on.get() => limits,
            _ => (500, 1_000_000),
        };
        if self.world.hit(Fault::NoCapabilities) {
            return Answer::status(404).deliver(&self.world, self.world.server_wall()).0;
        }
        let body = format!("{{\"maxItems\":{items},\"maxBytes\":{bytes},\"keyTtlSeconds\":86400}}");
        Answer::body(200, &body).deliver(&self.world, self.world.server_wall()).0
    }
}

impl World {
    async fn hop(&self) {
        let mut millis = self.net.borrow_mut().u64(0..=self.plan.network);
        if self.hit(Fault::SlowNetwork) {
            millis += self.net.borrow_mut().u64(0..40_000);
        }
        self.sleep(millis).await;
    }

    async fn travel(self: Rc<Self>, number: u32, items: Vec<Item>, reply: oneshot::Sender<(Delivery, Option<u64>)>) {
        self.hop().await;
        if self.hit(Fault::RequestLost) {
            return self.lose(reply).await;
        }
        let items = Rc::new(items);
        if self.hit(Fault::Doubled) {
            self.deliver_again(number, &items, 100);
        }
        if self.hit(Fault::DoubledLate) {
            self.deliver_again(number, &items, 7_200_000);
        }
        let answer = self.serve(number, &items);
        let made = self.server_wall();
        let silent = matches!(answer, Answer::Silence);
        self.hop().await;
        if silent || self.hit(Fault::AnswerLost) {
            return self.lose(reply).await;
        }
        let _ = reply.send(answer.deliver(&self, made));
    }

    /// Either the line breaks and the tab notices, or nothing ever comes.
    async fn lose(&self, reply: oneshot::Sender<(Delivery, Option<u64>)>) {
        let notices = self.net.borrow_mut().bool();
        if notices {
            self.hop().await;
            let _ = reply.send((Delivery::NoAnswer, None));
        }
    }

    fn deliver_again(self: &Rc<Self>, number: u32, items: &Rc<Vec<Item>>, within: u64) {
        let (world, items) = (Rc::clone(self), Rc::clone(items));
        let millis = self.net.borrow_mut().u64(0..within);
        self.spawn(async move {
            world.sleep(millis).await;
            let _ = world.serve(number, &items);
        });
    }
}

fn describe(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Answer(answer) => format!("{} {}", answer.status, answer.retry_after.as_deref().unwrap_or("-")),
        other => format!("{other:?}"),
    }
}

impl Transport for Line {
    async fn send(&self, request: HttpRequest) -> Delivery {
        if !self.world.signed_in.get() {
            return Delivery::SignedOut;
        }
        if request.method == Method::Post && self.world.hit(Fault::HeadersFailed) {
            return Delivery::HeadersFailed("simulated".to_owned());
        }
        self.carry(request).await
    }

    async fn refresh(&self) -> bool {
        self.world.hop().await;
        if self.world.hit(Fault::SignedOut) {
            self.world.signed_in.set(false);
        }
        let stale = self.world.hit(Fault::TokenStale);
        self.world.token_valid.set(self.world.signed_in.get() && !stale);
        self.world.signed_in.get()
    }
}
