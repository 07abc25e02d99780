//! Compiles the BPF program with clang and generates what loads it.
//!
//! It ends with one line that names the remedy where clang or rustfmt is missing, so that set-up can leave this observer
//! out with a reason. The kernel's types that the program reads stand in its own header: no kernel headers are needed.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use libbpf_cargo::SkeletonBuilder;

const SOURCE: &str = "src/bpf/kernel_path.bpf.c";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-changed=build.rs");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            println!("cargo::error=the kernel path's program can't be built: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    check_tool("clang", "apt-get install clang libelf-dev zlib1g-dev")?;
    check_tool(
        "rustfmt",
        "rustup component add rustfmt, or apt-get install rustfmt: what loads the program is written through it",
    )?;
    let skeleton = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("kernel_path.skel.rs");
    SkeletonBuilder::new()
        .source(SOURCE)
        .clang_args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
        .build_and_generate(skeleton)
        .map_err(|error| format!("{error:#}").replace('\n', "; "))
}

/// Also a proxy of rustup without the component is no tool: it starts, and fails.
fn check_tool(name: &str, remedy: &str) -> Result<(), String> {
    let status = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status} ({remedy})")),
        Err(error) => Err(format!("{name}: {error} ({remedy})")),
    }
}
