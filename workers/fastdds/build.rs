//! Finds the installed Fast DDS (2.x as `libfastrtps`, 3.x as `libfastdds`) and compiles the shim against it.
//!
//! `MIDDLEMARK_FASTDDS_PREFIX` names another place than the system's. What is missing is named in one line with its remedy.

use std::path::PathBuf;

const PREFIX: &str = "MIDDLEMARK_FASTDDS_PREFIX";
const PACKAGES: &str =
    "install the packages g++, libssl-dev, libfastcdr-dev and libfastrtps-dev (libfastdds-dev since Debian 13)";

fn main() {
    println!("cargo::rerun-if-env-changed={PREFIX}");
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=tests");
    println!("cargo::rerun-if-changed=../dds/shim");
    if let Err(missing) = build() {
        println!("cargo::error={missing}");
    }
}

fn build() -> Result<(), String> {
    let prefix = std::env::var_os(PREFIX).map(PathBuf::from);
    let mut shim = cc::Build::new();
    shim.cpp(true)
        .include("../dds/shim")
        .std("c++17")
        .warnings(true)
        .extra_warnings(true);
    if let Some(prefix) = &prefix {
        shim.include(prefix.join("include"));
        let folder = prefix.join("lib");
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
    let Found {
        library,
        version,
        has_large_data,
    } = probe(&shim)?;
    println!("cargo::rustc-env=MIDDLEMARK_FASTDDS_LIBRARY={library}");
    println!("cargo::rustc-env=MIDDLEMARK_FASTDDS_LARGE_DATA={has_large_data}");
    println!("cargo::rustc-env=MIDDLEMARK_FASTDDS_ORIGIN=installed library, version {version} at build time");
    shim.define("MM_LARGE_DATA", if has_large_data { "1" } else { "0" })
        .file("shim/fastdds.cpp")
        .file("tests/throwing.cpp")
        .try_compile("middlemark_fastdds")
        .map_err(|_| format!("the shim does not compile against Fast DDS {version}"))?;
    println!("cargo::rustc-link-lib={library}");
    println!("cargo::rustc-link-lib=fastcdr");
    Ok(())
}

/// What the headers say of the library.
struct Found {
    library: String,
    version: String,
    has_large_data: bool,
}

fn probe(shim: &cc::Build) -> Result<Found, String> {
    let expanded = shim
        .clone()
        .cargo_warnings(false)
        .file("shim/probe.cpp")
        .try_expand()
        .map_err(|_| format!("no C++ compiler; {PACKAGES}"))?;
    let text = String::from_utf8_lossy(&expanded);
    // The preprocessor may put a line marker between the words.
    let mut words = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .skip_while(|&word| word != "middlemark_found")
        .skip(1);
    match (words.next(), words.next()) {
        (Some(library), Some(version)) => Ok(Found {
            library: library.to_owned(),
            version: version.trim_matches('"').to_owned(),
            has_large_data: words.next() == Some("large_data"),
        }),
        _ => Err(format!("Fast DDS is not installed; {PACKAGES}")),
    }
}
