//! The border of a task: a panic in a connector's code becomes a fatal error with its message.

use crate::{
    erased::BoxFuture,
    error::{Result, TaskError},
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
};

/// A future of a connector, polled and dropped behind the border.
pub(crate) struct Guarded<'a, T> {
    what: &'static str,
    state: Option<Result<BoxFuture<'a, Result<T>>>>,
}

/// Starts an asynchronous call into a connector; `what` names it in the message, such as `poll`.
pub(crate) fn guard<'a, T>(what: &'static str, start: impl FnOnce() -> BoxFuture<'a, Result<T>>) -> Guarded<'a, T> {
    Guarded { what, state: Some(call(what, start)) }
}

impl<T> Future for Guarded<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let what = self.what;
        let result = match self.state.as_mut().expect("a future is not polled after it was ready") {
            // What a panic has left behind is dropped right below and never looked at again.
            Ok(future) => match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                Ok(polled) => Some(ready!(polled)),
                Err(panic) => Some(Err(panicked(what, panic.as_ref()))),
            },
            Err(_) => None,
        };
        let state = self.state.take();
        Poll::Ready(match (result, state) {
            (Some(result), state) => dispose(what, state).and(result),
            (None, Some(Err(error))) => Err(error),
            (None, _) => unreachable!("the state was an error just now"),
        })
    }
}

impl<T> Drop for Guarded<'_, T> {
    fn drop(&mut self) {
        // A panic while a cancelled call is dropped must not take the worker's thread down; it has no one to fail.
        drop(dispose(self.what, self.state.take()));
    }
}

/// Calls into a connector.
///
/// # Errors
/// Fatal if it panics.
pub(crate) fn call<T>(what: &'static str, f: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| panicked(what, panic.as_ref()))
}

/// Drops a value of a connector.
///
/// # Errors
/// Fatal if its `Drop` panics.
pub(crate) fn dispose<T>(what: &'static str, value: T) -> Result<()> {
    call(what, || drop(value))
}

/// True if the error is a panic: then nothing more should be asked of the value whose code panicked.
pub(crate) fn is_panic(error: &TaskError) -> bool {
    error.cause().is::<Panicked>()
}

/// A panic's place and message.
#[derive(Debug)]
struct Panicked(String);

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

fn panicked(what: &str, panic: &(dyn Any + Send)) -> TaskError {
    let message = panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(its payload is not text)");
    TaskError::fatal(Panicked(format!("panicked in `{what}`: {message}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn poll<T>(guarded: &mut Guarded<'_, T>) -> Poll<Result<T>> {
        Pin::new(guarded).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_panic_is_an_error_that_says_where() {
        let mut early: Guarded<'_, ()> = guard("open", || panic!("number {}", 1));
        let mut late: Guarded<'_, ()> = guard("poll", || Box::pin(async { panic!("number 2") }));
        for (guarded, text) in
            [(&mut early, "panicked in `open`: number 1"), (&mut late, "panicked in `poll`: number 2")]
        {
            let Poll::Ready(Err(error)) = poll(guarded) else { panic!("not an error") };
            assert_eq!(error.to_string(), text);
            assert!(!error.is_retriable() && is_panic(&error));
        }
    }

    #[test]
    fn a_result_passes() {
        let mut fine = guard("poll", || Box::pin(async { Ok(7) }));
        assert!(matches!(poll(&mut fine), Poll::Ready(Ok(7))));
    }

    #[test]
    fn a_panic_while_dropping_is_held_back() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("boom");
            }
        }
        let mut cancelled: Guarded<'_, ()> = guard("poll", || {
            Box::pin(async {
                let _bomb = Bomb;
                std::future::pending().await
            })
        });
        assert!(poll(&mut cancelled).is_pending());
        drop(cancelled);
        assert!(dispose("close", Bomb).unwrap_err().to_string().contains("boom"));
    }
}
