//! The children this controller installs, as they shall be. Pure.

mod front_end;
pub(crate) mod pod;
mod service;

pub(crate) use front_end::{FrontEnd, deployment};
pub(crate) use service::services;

/// Label that selects the pods of one program.
pub(crate) const APP_LABEL: &str = "app";
/// Value of [`APP_LABEL`] on the pods of Trustee.
pub(crate) const TRUSTEE_APP: &str = "kbs";
/// Port Trustee listens on.
pub(crate) const TRUSTEE_PORT: i32 = 8080;
