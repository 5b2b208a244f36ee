//! What hurries the sender or holds it back: the app's calls, other tabs, and the browser's hints.

use super::{Engine, Output, Reply, Ticket};
use crate::core::event::{Message, Pause};
use crate::core::limits::{ONLINE_GAP, OTHER_TAB_PASS};
use crate::core::retry::clamp;
use crate::core::time::Time;

impl Engine {
    pub(super) fn sync(&mut self, ticket: Ticket, now: Time) {
        self.sender.syncs.push((ticket, now + OTHER_TAB_PASS));
        if self.sender.is_active() {
            self.hurry(now);
        } else {
            self.outputs.push_back(Output::Post(Message::Ask { pass: true }));
        }
    }

    pub(super) fn steer(&mut self, ticket: Ticket, pause: bool, now: Time) {
        self.set_paused(pause, now);
        self.outputs.push_back(Output::Post(Message::Steer { pause }));
        self.reply(ticket, Ok(Reply::Done));
    }

    /// A person asks for a pass. What the server asked for holds all the same.
    pub(super) fn hurry(&mut self, now: Time) {
        if self.sender.paused != Some(Pause::ByApp) {
            self.sender.paused = None;
        }
        self.sender.asked_for_credentials = false;
        self.sender.store_due = Time::ZERO;
        self.sender.dirty = true;
        self.meta.queue.due = clamp(self.meta.queue.floor, now).min(self.meta.queue.due);
    }

    pub(super) fn set_paused(&mut self, pause: bool, now: Time) {
        if pause {
            self.sender.paused = Some(Pause::ByApp);
        } else if self.sender.paused.take().is_some() {
            self.hurry(now);
        }
    }

    pub(super) fn noticed_online(&mut self, online: bool, now: Time) {
        self.published.online = online;
        if online && self.sender.is_active() {
            // A hint may bring an attempt forward; it does not forget the failures, and not more than one comes of it.
            let sooner = self.meta.queue.floor.max(self.sender.last_attempt + ONLINE_GAP);
            if clamp(sooner, now) < self.meta.queue.due {
                self.meta.queue.due = sooner;
            }
        }
    }

    pub(super) fn answer_syncs(&mut self) {
        let waiting = self.sender.take_syncs();
        if !waiting.is_empty() {
            let status = self.status();
            for ticket in waiting {
                self.reply(ticket, Ok(Reply::Status(Box::new(status.clone()))));
            }
        }
    }

    pub(super) fn give_up_on_other_tabs(&mut self, now: Time) {
        if !self.sender.is_active() && self.sender.syncs.iter().any(|(_, until)| *until <= now) {
            self.answer_syncs();
        }
    }
}
