//! Many at once, in one process and in two, and crashes between.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use warifu_server::fault::{Fault, Hook};
use warifu_server::repository::RowId;
use warifu_server::{Database, Running};

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(
    fifty_times_the_same_batch_at_once_is_one_row_each,
    crossing_batches_of_two_servers_on_one_file_neither_lock_up_nor_double,
    a_listing_that_is_read_while_others_write_misses_nothing,
);

/// Sends each batch at the same moment, and gives the ids each was told.
async fn all_at_once(apis: &[Api], batches: &[Vec<String>]) -> Vec<Vec<(String, i64)>> {
    let sends = batches.iter().enumerate().map(|(n, batch)| {
        let api = apis[n % apis.len()].clone();
        async move {
            let results = api.results(batch).await;
            let told = results.iter().map(|r| {
                assert!(r["status"] == "created" || r["status"] == "duplicated", "{r}");
                (r["clientMemoryId"].as_str().unwrap().to_owned(), r["memory_id"].as_i64().unwrap())
            });
            told.collect::<Vec<_>>()
        }
    });
    let mut told: Vec<Vec<(String, i64)>> = join_all(sends).await;
    told.iter_mut().for_each(|ids| ids.sort());
    told
}

async fn two_servers(place: &Place) -> (Vec<Running>, Vec<Api>) {
    let (mut servers, mut apis) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let database = place.database().busy_timeout(Duration::from_secs(30));
        let server = builder(database).start().await.unwrap();
        apis.push(Api::new(&server.url(), TOKEN));
        servers.push(server);
    }
    (servers, apis)
}

async fn fifty_times_the_same_batch_at_once_is_one_row_each(place: Place) {
    {
        let (servers, apis) = two_servers(&place).await;
        let batches = vec![items(0..20); 50];
        let told = all_at_once(&apis, &batches).await;
        assert!(told.iter().all(|ids| *ids == told[0]));
        assert_eq!(apis[0].records().await.len(), 20);
        assert_eq!(servers[0].repository().names(&"aki".parse().unwrap()).await.unwrap().len(), 20);
    }
}

async fn crossing_batches_of_two_servers_on_one_file_neither_lock_up_nor_double(place: Place) {
    let (_servers, apis) = two_servers(&place).await;
    for round in 0..10 {
        let forward = items(round * 50..round * 50 + 30);
        let backward: Vec<_> = items(round * 50 + 20..round * 50 + 50).into_iter().rev().collect();
        let told = all_at_once(&apis, &[forward.clone(), backward.clone(), backward, forward]).await;
        assert_eq!((&told[0], &told[1]), (&told[3], &told[2]));
        assert_eq!(told[0][20..], told[1][..10], "what is in both has one id");
    }
    assert_eq!(apis[0].records().await.len(), 500);
}

async fn a_listing_that_is_read_while_others_write_misses_nothing(place: Place) {
    let (_servers, apis) = two_servers(&place).await;
    let writers = (0..8).map(|w: u32| {
        let api = apis[(w % 2) as usize].clone();
        tokio::spawn(async move {
            for n in 0..10 {
                api.results(&items(w * 100 + n * 3..w * 100 + n * 3 + 3)).await;
            }
        })
    });
    let writing = tokio::spawn(join_all(writers.collect::<Vec<_>>()));
    let (mut seen, mut after) = (std::collections::HashSet::new(), "0".to_owned());
    loop {
        let last = writing.is_finished();
        let page = apis[0].get(&format!("api/memories?limit=7&after={after}")).await.json();
        seen.extend(
            page["records"].as_array().unwrap().iter().map(|r| r["clientMemoryId"].as_str().unwrap().to_owned()),
        );
        page["next"].as_str().unwrap().clone_into(&mut after);
        if last && page["hasMore"] == false {
            break;
        }
    }
    writing.await.unwrap().into_iter().for_each(|writer| writer.unwrap());
    assert_eq!(seen.len(), 240);
}

#[tokio::test]
async fn an_answer_lost_after_the_commit_and_a_restart_end_in_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let hook: Hook = Arc::new(|_| Box::pin(async { Fault::DropAfter }));
    let server = builder(Database::path(&path)).fault(hook).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    api.post(batch(&items(0..3))).send().await.expect_err("no answer");
    let names = server.repository().names(&"aki".parse().unwrap()).await.unwrap();
    assert_eq!(names.len(), 3, "it was committed");
    server.kill().await;
    let server = builder(Database::path(&path)).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    let results = api.results(&items(0..3)).await;
    assert!(results.iter().all(|result| result["status"] == "duplicated"));
    assert_eq!(memory_ids(&results), names.iter().map(|(_, RowId(id))| *id).collect::<Vec<_>>());
    assert_eq!(api.records().await.len(), 3);
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_gets_one_row_when_it_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = builder(Database::path(folder.path().join("rows.sqlite"))).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    for round in 0..60 {
        let batch = items(round * 20..round * 20 + 20);
        let leave = Duration::from_micros(u64::from(round) * 300);
        let _ = tokio::time::timeout(leave, api.sync(&batch)).await;
        let told = memory_ids(&api.results(&batch).await);
        assert_eq!(memory_ids(&api.results(&batch).await), told);
    }
    assert_eq!(api.records().await.len(), 1200);
}
