//! The menus of threads and of processes.

use std::cmp::Reverse;

use options::GroupBy;
use profile::query::engine::{RowKey, TableRow};

use super::menu::{Action, Menu, MenuItem};
use super::{App, Step};
use crate::data::{Snapshot, safe, share_of};

/// Maximum number of threads or processes in a menu.
const MOST_IN_MENU: usize = 1000;

/// A thread with one name, or a process with all of its names: what a filter selects.
#[derive(Debug)]
struct Task {
    id: i32,
    /// The most costly one first.
    names: Vec<Vec<u8>>,
    weight: u64,
}

impl App {
    /// Returns the threads or processes with samples, most costly first, each with the filter for it.
    pub(super) fn task_menu(&mut self, group: GroupBy) -> Option<Menu> {
        let data = self.data.as_ref()?;
        let total = self.results.as_ref()?.total.weight;
        let rows = match self.filters.query().table(data, group) {
            Ok(rows) => rows,
            Err(error) => {
                self.message = Some(safe(error.as_bytes()));
                return None;
            }
        };
        let is_process = group == GroupBy::Process;
        let item = |task: Task| {
            let names: Vec<String> = task.names.iter().map(|name| safe(name)).collect();
            let label = format!("{} {}", names.join(", "), task.id);
            let text = format!("{} {label}", share_of(task.weight, total));
            let step = if is_process {
                Step::Process(task.id, label)
            } else {
                Step::Thread(task.id, task.names.into_iter().next().unwrap_or_default())
            };
            MenuItem::new(text, Action::Filter(step))
        };
        let items = tasks(data, &rows).into_iter().take(MOST_IN_MENU).map(item).collect();
        let title = if is_process { "Zoom into a process" } else { "Zoom into a thread" };
        Some(Menu::new(title, items))
    }
}

/// Returns the tasks of the rows of a table, most costly first. Rows that one filter selects are one task.
fn tasks(data: &Snapshot, rows: &[TableRow]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut places = hashbrown::HashMap::new();
    for row in rows {
        let (id, name, is_process) = match row.key {
            RowKey::Thread(thread) => {
                let Some(thread) = data.profile.threads.get(thread) else { continue };
                (thread.tid.0, data.text(Some(thread.comm)), false)
            }
            RowKey::Process(key) => (key.pid.0, data.text(Some(key.name)), true),
            _ => continue,
        };
        let place = *places.entry((id, (!is_process).then_some(name))).or_insert(tasks.len());
        match tasks.get_mut(place) {
            Some(task) => {
                task.weight += row.own.weight;
                if !task.names.iter().any(|it| it == name) {
                    task.names.push(name.to_vec());
                }
            }
            None => tasks.push(Task { id, names: vec![name.to_vec()], weight: row.own.weight }),
        }
    }
    tasks.sort_by_key(|task| Reverse(task.weight));
    tasks
}
