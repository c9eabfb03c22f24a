//! The program behind `kubectl trusted`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_trusted::main()
}
