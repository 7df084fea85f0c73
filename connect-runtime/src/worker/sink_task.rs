//! Starts sink tasks: a consumer, the converters, and the loop.

use super::{TaskHandle, TaskMonitor, TaskSpec, Worker, target::target};
use crate::{config::sink_topics, kafka::Subscription};
use connect_sdk::{
    erased::{DynSinkConnector, Properties},
    error::{Result, TaskError},
    java::regex::JavaRegex,
    task::{
        ports::{Commands, SinkDeadLetters, TaskObserver},
        sink::{self, SinkSetup, SinkTaskConfig},
    },
};
use std::sync::Arc;

impl Worker {
    /// Starts a task of a sink connector. What goes wrong from here on is the task's own failure.
    pub(crate) fn start_sink_task(&self, connector: &Arc<dyn DynSinkConnector>, spec: TaskSpec<'_>) -> TaskHandle {
        let monitor = Arc::new(TaskMonitor::new(spec.id.clone(), Arc::clone(spec.guarantee)));
        let (setter, watch) = target(spec.target);
        let setup = self.sink_setup(connector, spec, Box::new(watch), monitor.clone());
        TaskHandle::spawn(monitor, setter, setup.map(sink::run))
    }

    fn sink_setup(
        &self,
        connector: &Arc<dyn DynSinkConnector>,
        spec: TaskSpec<'_>,
        commands: Box<dyn Commands>,
        observer: Arc<dyn TaskObserver>,
    ) -> Result<SinkSetup> {
        let n_tasks = spec.info.n_tasks;
        let config = SinkTaskConfig::from_properties(&self.with_worker_keys(spec.properties));
        let dead_letters = match self.clients.dead_letter_topic(&spec.id, spec.properties)? {
            Some(topic) => {
                let producer = self.clients.dead_letter_producer(&spec.id, spec.properties)?;
                Some(SinkDeadLetters { topic, producer })
            }
            None => None,
        };
        Ok(SinkSetup {
            connector: Arc::clone(connector),
            properties: spec.properties.clone(),
            task: spec.info,
            config: config.map_err(TaskError::fatal)?,
            converters: spec.converters.clone(),
            chain: spec.chain.make().map_err(TaskError::fatal)?,
            dead_letters,
            consumer: self.clients.consumer(&spec.id, n_tasks, spec.properties, subscription(spec.properties)?)?,
            commands,
            clock: self.clock.clone(),
            observer,
        })
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
        assert_eq!(["log-1", "log-1x", "xlog-1"].map(fits), [true, false, false]);
    }
}
