//! The source connectors of a worker: their offsets, their partitions spread over tasks, each generation of tasks fenced
//! against the one before.

use super::{
    connector::{Active, Setup},
    task_configs::{group_partitions, regroup_partitions, same_groups},
};
use crate::worker::{SourceOffsets, TaskHandle, fence_tasks, stop_tasks};
use connect_sdk::{
    erased::{DynSourceConnector, Properties},
    error::TaskError,
    source::PartitionMap,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// First wait before `partitions` is called again after a retriable error; it doubles each time.
const PARTITIONS_RETRY_FIRST: Duration = Duration::from_millis(300);
/// Longest such wait.
const PARTITIONS_RETRY_MAX: Duration = Duration::from_secs(60);

type Groups = Vec<Vec<PartitionMap>>;

/// Runs a source connector until it is told to stop, or until it has its tasks and nothing more to watch.
pub(super) async fn run(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    active: &Active,
    started: &watch::Sender<Option<bool>>,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), String> {
    let Some(partitions) = discover(setup, source, &mut stopping).await? else { return Ok(()) };
    if partitions.is_empty() {
        tracing::warn!(connector = %setup.name, "connector named no source partitions; it has no tasks");
    }
    let Some(offsets) = open_offsets(setup, active, &mut stopping).await? else { return Ok(()) };
    let mut groups = group_partitions(partitions, setup.tasks_max);
    start_tasks(setup, source, active, &groups, (&offsets, 0), &mut stopping).await;
    started.send_replace(Some(true));
    let refresh = refresh_interval(&setup.properties);
    while let Some(interval) = refresh {
        tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(()),
            () = tokio::time::sleep(interval) => {}
        }
        let Some(now) = discover(setup, source, &mut stopping).await? else { return Ok(()) };
        let changed = regroup_partitions(&groups, now, setup.tasks_max);
        if !same_groups(&groups, &changed) {
            tracing::info!(connector = %setup.name, tasks = changed.len(), "source partitions changed; starting the tasks anew");
            stop_tasks(active.take_tasks(), setup.worker.settings.graceful_timeout).await;
            let n_before = groups.len();
            groups = changed;
            start_tasks(setup, source, active, &groups, (&offsets, n_before), &mut stopping).await;
        }
    }
    Ok(())
}

/// Opens the connector's offsets; none if the worker stops meanwhile.
async fn open_offsets(
    setup: &Setup,
    active: &Active,
    stopping: &mut watch::Receiver<bool>,
) -> Result<Option<SourceOffsets>, String> {
    let opened = tokio::select! {
        _ = stopping.wait_for(|s| *s) => return Ok(None),
        opened = setup.worker.connector_offsets(&setup.name, &setup.properties, setup.exactly_once) => opened,
    };
    let opened = Arc::new(opened.map_err(|error| format!("its offsets cannot be opened: {}", error.chain()))?);
    let offsets = if setup.exactly_once { SourceOffsets::InTransaction(opened) } else { SourceOffsets::Stored(opened) };
    Ok(Some(active.offsets.get_or_init(|| offsets).clone()))
}

/// Starts a generation of tasks, after whatever is left of older ones can write no more. If that cannot be made sure of,
/// its tasks are FAILED.
async fn start_tasks(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    active: &Active,
    groups: &Groups,
    (offsets, n_before): (&SourceOffsets, usize),
    stopping: &mut watch::Receiver<bool>,
) {
    let fenced = if setup.exactly_once {
        let count = |n| u32::try_from(n).unwrap_or(u32::MAX);
        let clients = &*setup.worker.clients;
        tokio::select! {
            _ = stopping.wait_for(|s| *s) => return,
            fenced = fence_tasks(clients, &setup.name, &setup.properties, count(groups.len()), count(n_before)) => fenced,
        }
    } else {
        Ok(())
    };
    let error =
        fenced.err().map(|error| format!("older tasks could not be fenced, and may still write: {}", error.chain()));
    let start = |(i, partitions): (usize, &Vec<PartitionMap>)| {
        let spec = setup.task(i, groups.len());
        match &error {
            None => setup.worker.start_source_task(source, spec, partitions, offsets),
            Some(why) => TaskHandle::failed(&spec, TaskError::fatal(why.clone())),
        }
    };
    active.set_tasks(groups.iter().enumerate().map(start).collect());
}

/// Asks the connector for its partitions until it answers; `None` if the worker stops meanwhile.
async fn discover(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    stopping: &mut watch::Receiver<bool>,
) -> Result<Option<Vec<PartitionMap>>, String> {
    let mut wait = PARTITIONS_RETRY_FIRST;
    loop {
        // In a task of its own, so that a panic of the connector is an error here.
        let asked = tokio::spawn(source.partitions(setup.properties.clone()));
        let answer = tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(None),
            answer = asked => answer,
        };
        let (error, after) = match answer {
            Ok(Ok(partitions)) => return Ok(Some(partitions)),
            Ok(Err(TaskError::Retriable { cause, after })) => (cause.to_string(), after),
            Ok(Err(fatal)) => return Err(format!("`partitions` failed: {}", fatal.chain())),
            Err(panic) => return Err(format!("`partitions` panicked: {panic}")),
        };
        let pause = after.unwrap_or(wait);
        let retry_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(connector = %setup.name, %error, retry_ms, "`partitions` failed; asking again");
        tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(None),
            () = tokio::time::sleep(pause) => {}
        }
        wait = (wait * 2).min(PARTITIONS_RETRY_MAX);
    }
}

/// `partitions.refresh.interval.ms`; checked before, so what cannot be read here is off.
fn refresh_interval(properties: &Properties) -> Option<Duration> {
    let (key, default) = connect_sdk::config::own_keys::PARTITIONS_REFRESH_INTERVAL_MS;
    let ms = properties.get(key).and_then(|v| v.trim().parse().ok()).unwrap_or(default);
    u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}
