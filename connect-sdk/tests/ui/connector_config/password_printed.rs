//! A secret is printed.

use connect_sdk::prelude::*;

fn log(secret: &Password) -> String {
    format!("{secret}") //~ ERROR Password` doesn't implement `std::fmt::Display`
}
