//! Compiles the BPF program with clang and generates what loads it.
//!
//! It ends with one line that names the remedy where clang is missing, so that set-up can leave this observer out with a
//! reason. The kernel's types that the program reads stand in its own header: no kernel headers are needed.

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
    let version = Command::new("clang").arg("--version").stdout(Stdio::null()).status();
    version.map_err(|error| format!("clang: {error} (apt-get install clang libelf-dev zlib1g-dev)"))?;
    let skeleton = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("kernel_path.skel.rs");
    SkeletonBuilder::new()
        .source(SOURCE)
        .clang_args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
        .build_and_generate(skeleton)
        .map_err(|error| format!("{error:#}").replace('\n', "; "))
}
