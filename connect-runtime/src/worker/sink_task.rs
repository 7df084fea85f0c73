//! Starts sink tasks: a consumer, the converters, and the loop.

use super::{Converters, TaskHandle, TaskMonitor, Worker, target::target};
use crate::{config::sink_topics, id::ConnectorTaskId, kafka::Subscription, status::State};
use connect_sdk::{
    erased::{DynSinkConnector, Properties},
    error::{Result, TaskError},
    java::regex::JavaRegex,
    task::{
        TaskEnd, TaskInfo,
        ports::TargetState,
        sink::{self, SinkConverters, SinkSetup, SinkTaskConfig},
    },
};
use std::sync::Arc;

impl Worker {
    /// Starts a task of a sink connector. What goes wrong from here on is the task's own failure.
    pub(crate) fn start_sink_task(
        &self,
        id: ConnectorTaskId,
        info: TaskInfo,
        connector: &Arc<dyn DynSinkConnector>,
        properties: &Properties,
        converters: &Converters,
        state: TargetState,
    ) -> TaskHandle {
        let monitor = Arc::new(TaskMonitor::new(id.clone()));
        let (setter, watch) = target(state);
        let consumer = subscription(properties).and_then(|topics| self.clients.consumer(&id, properties, topics));
        let setup = consumer.and_then(|consumer| {
            Ok(SinkSetup {
                connector: Arc::clone(connector),
                properties: properties.clone(),
                task: info,
                config: SinkTaskConfig::from_properties(&self.with_worker_keys(properties))
                    .map_err(TaskError::fatal)?,
                converters: SinkConverters {
                    key: Arc::clone(&converters.key),
                    value: Arc::clone(&converters.value),
                    header: Arc::clone(&converters.header),
                },
                consumer,
                commands: Box::new(watch),
                clock: self.clock.clone(),
                observer: monitor.clone(),
            })
        });
        TaskHandle::spawn(monitor, setter, async {
            match setup {
                Ok(setup) => end_state(sink::run(setup).await),
                Err(error) => State::Failed(error.chain()),
            }
        })
    }
}

/// The last state of a task that has ended.
pub(super) fn end_state(end: TaskEnd) -> State {
    match end {
        TaskEnd::Stopped => State::Unassigned,
        TaskEnd::Failed(error) => State::Failed(error.chain()),
    }
}

/// What `topics` or `topics.regex` name; which of them is set was checked before.
fn subscription(properties: &Properties) -> Result<Subscription> {
    let regex = properties.get("topics.regex").map(|r| r.trim()).filter(|r| !r.is_empty());
    if let Some(pattern) = regex {
        let regex = JavaRegex::new(pattern)
            .map_err(|e| TaskError::fatal(format!("`topics.regex` is not a regular expression: {e}")))?;
        // A name on which the match takes too long is not subscribed, as one that does not fit.
        return Ok(Subscription::Matching(Box::new(move |topic| regex.matches(topic).unwrap_or(false))));
    }
    Ok(Subscription::Topics(sink_topics(properties)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str, value: &str) -> Subscription {
        subscription(&Properties::from([(key.to_owned(), value.to_owned())])).unwrap()
    }

    #[test]
    fn topics_are_named_or_matched_whole() {
        let Subscription::Topics(topics) = read("topics", " a, b,,a ,c") else { panic!("topics were named") };
        assert_eq!(topics, ["a", "b", "c"]);
        let Subscription::Matching(fits) = read("topics.regex", "log-[0-9]+") else { panic!("a pattern was given") };
        assert_eq!(["log-1", "log-1x", "xlog-1"].map(|t| fits(t)), [true, false, false]);
    }
}
