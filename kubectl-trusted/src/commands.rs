//! One module per verb: from arguments to data, from data to a document.

pub(crate) mod audit_api_calls;
pub(crate) mod completion;
pub(crate) mod decide;
pub(crate) mod explain_machine;
pub(crate) mod report;
pub(crate) mod status;
pub(crate) mod version;
